import type { Line, Span } from "./line.ts";
import { printableInLine } from "./printable.ts";
import { graphemesOf, widthOf } from "./width.ts";

/**
 * Wraps a line to rows of a width: between words if possible, otherwise within one, never inside a grapheme. A grapheme
 * that is wider than all columns has a separate row. The spaces between two rows are left out.
 */
export const wrapped = (line: Line, columns: number): readonly Line[] => {
  if (lineWidth(line) <= columns) return [line];
  const cells = cellsOf(line);
  const rows: Line[] = [];
  for (let start = 0; start < cells.length;) {
    const end = rowEnd(cells, start, columns);
    let next = end;
    while (cells[next]?.text === " ") next += 1;
    rows.push(lineOf(cells.slice(start, end === cells.length ? end : shownEnd(cells, start, end))));
    start = next;
  }
  return rows;
};

/** Returns the number of columns of a line. */
export const lineWidth = (line: Line): number =>
  line.reduce((sum, { text }) => sum + widthOf(printableInLine(text)), 0);

/** Cuts a line to a width, with an ellipsis if its end is left out. */
export const cutLine = (line: Line, columns: number): Line => {
  if (lineWidth(line) <= columns) return line;
  const cells = cellsOf(line);
  let width = 0;
  const end = cells.findIndex((cell) => (width += cell.width) > columns - 1);
  const { span } = cells[Math.max(end - 1, 0)] ?? { span: { text: "", roles: [] } };
  return columns < 1 ? [] : lineOf([...cells.slice(0, end), { text: "…", width: 1, span }]);
};

/** Joins rows to one line that a terminal of this width breaks at the same places, so that a copy has no line ends. */
export const joinedRows = (rows: readonly Line[], columns: number, indent = 0): Line =>
  rows.flatMap((row, index): Line => {
    if (index === rows.length - 1) return row;
    const padding = " ".repeat(Math.max(columns - indent - lineWidth(row), 1) + indent);
    return [...row, { text: padding, roles: [] }];
  });

interface Cell {
  readonly text: string;
  readonly width: number;
  readonly span: Span;
}

const cellsOf = (line: Line): readonly Cell[] =>
  line.flatMap((span) => graphemesOf(printableInLine(span.text)).map((text) => ({ text, width: widthOf(text), span })));

/** Returns the end of the row that begins at a cell: at least one cell further. */
const rowEnd = (cells: readonly Cell[], start: number, columns: number): number => {
  let width = 0;
  let breakAt = start;
  let hasWord = false;
  for (let index = start; index < cells.length; index += 1) {
    const { text, width: cellWidth } = cells[index] ?? lineEnd;
    width += cellWidth;
    if (width > columns) {
      const isBehindWord = hasWord && text === " ";
      return breakAt > start && !isBehindWord ? breakAt : Math.max(index, start + 1);
    }
    hasWord ||= text !== " ";
    if (hasWord && isBreakBetween(text, cellWidth, cells[index + 1]?.text ?? " ")) breakAt = index + 1;
  }
  return cells.length;
};

/**
 * Returns whether a row may end between two characters. Scripts without spaces may break after any wide character, but
 * not before closing punctuation.
 */
const isBreakBetween = (text: string, width: number, next: string): boolean =>
  text === " " || (width === 2 && !closing.test(next));

const closing = /^[、。，．：；！？）」』】〉》〕｝ー!?,.;:)\]}]/u;

const lineEnd: Cell = { text: " ", width: 0, span: { text: "", roles: [] } };

/** Returns the end of a row without trailing spaces. */
const shownEnd = (cells: readonly Cell[], start: number, rowEnds: number): number => {
  let last = rowEnds;
  while (last > start && cells[last - 1]?.text === " ") last -= 1;
  return last;
};

/** Joins the cells of one span to one span again. */
const lineOf = (cells: readonly Cell[]): Line => {
  const runs: { readonly span: Span; text: string }[] = [];
  for (const { text, span } of cells) {
    const last = runs.at(-1);
    if (last?.span === span) last.text += text;
    else runs.push({ span, text });
  }
  return runs.map(({ span, text }) => ({ ...span, text }));
};
