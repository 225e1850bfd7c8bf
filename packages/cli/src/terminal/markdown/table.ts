import type { Tokens } from "marked";
import type { Line } from "../text/line.ts";
import { lineWidth } from "../text/wrap.ts";
import { inlineLines } from "./inline.ts";
import { laid, type Place, roomOf } from "./place.ts";

/** Lays out a table in columns if they fit, otherwise each row as a list of cells. */
export const tableLines = ({ header, rows, align }: Tokens.Table, place: Place): readonly Line[] => {
  const heads = header.map(({ tokens }) => inlineLines(tokens, ["strong"], place));
  const cells = rows.map((row) => row.map(({ tokens }) => inlineLines(tokens, [], place)));
  const widths = heads.map((_, column) =>
    Math.max(...[heads, ...cells].flatMap((row) => row[column] ?? []).map(lineWidth), 1),
  );
  const width = widths.reduce((sum, each) => sum + each, between.length * (widths.length - 1));
  if (width > roomOf(place))
    return cells.length === 0 ? heads.flat().flatMap((each) => laid(each, place)) : listed(heads, cells, place);
  const below: Line = [{ text: widths.map((each) => "─".repeat(each)).join("─┼─"), roles: ["dim"] }];
  const columns = widths.map((each, index) => ({ width: each, align: align[index] ?? null }));
  return [...rowLines(heads, columns), below, ...cells.flatMap((row) => rowLines(row, columns))];
};

/** The lines of a cell. */
type Cell = readonly Line[];

interface Column {
  readonly width: number;
  readonly align: Tokens.TableCell["align"];
}

const between = " │ ";

const rowLines = (row: readonly Cell[], columns: readonly Column[]): readonly Line[] => {
  const height = Math.max(...row.map(({ length }) => length), 1);
  return Array.from({ length: height }, (_, index) =>
    columns.flatMap((column, nth): Line => {
      const text = row[nth]?.[index] ?? [];
      const isLast = nth === columns.length - 1;
      return [...aligned(text, column, isLast), ...(isLast ? [] : [{ text: between, roles: ["dim" as const] }])];
    }),
  );
};

const aligned = (text: Line, { width, align }: Column, isLast: boolean): Line => {
  const room = width - lineWidth(text);
  const left = align === "right" ? room : align === "center" ? Math.floor(room / 2) : 0;
  return [...spaces(left), ...text, ...(isLast ? [] : spaces(room - left))];
};

const spaces = (count: number): Line => (count === 0 ? [] : [{ text: " ".repeat(count), roles: [] }]);

const listed = (heads: readonly Cell[], rows: readonly (readonly Cell[])[], place: Place): readonly Line[] =>
  rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) => {
      const [first = [], ...rest] = cell;
      const head = (heads[column] ?? []).flat();
      return [[...head, { text: ": ", roles: ["dim" as const] }, ...first], ...rest].flatMap((each) =>
        laid(each, place),
      );
    }),
  ]);
