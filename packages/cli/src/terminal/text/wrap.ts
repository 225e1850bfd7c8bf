import stringWidth from "string-width";
import { type Line, type Span, textOfLine } from "./line.ts";
import { printableInLine } from "./printable.ts";

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

const lineOf = (cells: readonly Cell[]): Line => {
  const runs: { readonly span: Span; text: string }[] = [];
  for (const { text, span } of cells) {
    const last = runs.at(-1);
    if (last?.span === span) last.text += text;
    else runs.push({ span, text });
  }
  return runs.map(({ span, text }) => ({ ...span, text }));
};

/** Returns the number of terminal cells of a text. Control characters take none; replace them by visible ones first. */
export const widthOf = (text: string): number => (narrow.test(text) ? text.length : stringWidth(text));

/** Splits a text into graphemes: an emoji with all its parts is one, and so is a letter with its accents. */
export const graphemesOf = (text: string): readonly string[] =>
  narrow.test(text) ? text.split("") : Array.from(graphemes.segment(text), ({ segment }) => segment);

/** Most text: it needs no width tables. */
const narrow = /^[ -~]*$/;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Marks each occurrence of some words in a line, ignoring case. */
export const withMatches = (line: Line, words: string): Line => {
  const text = textOfLine(line);
  const [lower, wanted] = [text.toLowerCase(), words.toLowerCase()];
  // If lower case changes the length, places in it do not apply to the text.
  if (wanted === "" || lower.length !== text.length) return line;
  const spans: Span[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    spans.push(...slice(line, from, at));
    from = at + wanted.length;
    spans.push(...slice(line, at, from).map(asMatch));
  }
  return [...spans, ...slice(line, from, text.length)];
};

const asMatch = (span: Span): Span => ({ ...span, roles: [...span.roles.filter((role) => role !== "dim"), "match"] });

const slice = (line: Line, from: number, to: number): Line => {
  let start = 0;
  return line.flatMap((span) => {
    const text = span.text.slice(Math.max(from - start, 0), Math.max(to - start, 0));
    start += span.text.length;
    return text === "" ? [] : [{ ...span, text }];
  });
};
