import type { Line, Span } from "./line.ts";
import { printableInLine } from "./printable.ts";
import { graphemesOf, widthOf } from "./width.ts";

/**
 * A line in rows of at most so many columns: between words where it can, else within one, never inside of what a
 * person takes for one character: one that is wider than all columns has a row of its own. The spaces between two rows
 * are left out.
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

/** How many columns a line takes. */
export const lineWidth = (line: Line): number =>
  line.reduce((sum, { text }) => sum + widthOf(printableInLine(text)), 0);

/** A line of at most so many columns, with an ellipsis where its end is left out. */
export const cutLine = (line: Line, columns: number): Line => {
  if (lineWidth(line) <= columns) return line;
  const cells = cellsOf(line);
  let width = 0;
  const end = cells.findIndex((cell) => (width += cell.width) > columns - 1);
  const { span } = cells[Math.max(end - 1, 0)] ?? { span: { text: "", roles: [] } };
  return columns < 1 ? [] : lineOf([...cells.slice(0, end), { text: "…", width: 1, span }]);
};

/** Rows as one line that a terminal of so many columns breaks where they end, so that a copy of it has no line ends. */
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

/** Where the row ends that begins at a cell: at least one cell on. */
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

/** Scripts without spaces may break behind any of their wide characters, but not before what closes something. */
const isBreakBetween = (text: string, width: number, next: string): boolean =>
  text === " " || (width === 2 && !closing.test(next));

const closing = /^[、。，．：；！？）」』】〉》〕｝ー!?,.;:)\]}]/u;

const lineEnd: Cell = { text: " ", width: 0, span: { text: "", roles: [] } };

/** Without the spaces at its end. */
const shownEnd = (cells: readonly Cell[], start: number, rowEnds: number): number => {
  let last = rowEnds;
  while (last > start && cells[last - 1]?.text === " ") last -= 1;
  return last;
};

/** Cells of one span are one span again. */
const lineOf = (cells: readonly Cell[]): Line => {
  const runs: { readonly span: Span; text: string }[] = [];
  for (const { text, span } of cells) {
    const last = runs.at(-1);
    if (last?.span === span) last.text += text;
    else runs.push({ span, text });
  }
  return runs.map(({ span, text }) => ({ ...span, text }));
};
