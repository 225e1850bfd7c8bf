import type { Line, Role, Span } from "../text/line.ts";
import { printable } from "../text/printable.ts";
import { cutTo, graphemesOf, widthOf } from "../text/width.ts";

/** A text from outside as a span of one line. */
export const span = (text: string, ...roles: readonly Role[]): Span => ({
  text: printable(text.replaceAll(/\s/g, " ")),
  roles,
});

/** How many cells a line takes. */
export const lineWidth = (line: Line): number => line.reduce((width, { text }) => width + widthOf(text), 0);

/** A line in so many cells: of a longer one the beginning, with an ellipsis. */
export const fitted = (line: Line, width: number): Line => {
  if (lineWidth(line) <= width) return line;
  const spans: Span[] = [];
  let room = width;
  for (const { text, roles } of line) {
    // Combining marks and joined emoji take many units and few cells.
    const cut = cutTo(text.slice(0, (width + 1) * 16), room);
    spans.push({ text: cut, roles });
    room -= widthOf(cut);
    if (cut !== text || room < 1) break;
  }
  return spans;
};

/** Words with as many marks behind them as there is room for, the most important first; of the words some stay in any case. */
export const rowOf = (before: Line, words: Span, marks: readonly Line[], width: number): Line => {
  const least = lineWidth(before) + Math.min(lineWidth([words]), leastWords, Math.floor(width / 3));
  const behind: Span[] = [];
  for (const mark of marks) {
    if (least + lineWidth(behind) + lineWidth(mark) + separator.length <= width)
      behind.push({ text: separator, roles: [] }, ...mark);
  }
  return [...before, ...fitted([words], width - lineWidth(before) - lineWidth(behind)), ...behind];
};

const separator = "  ";
const leastWords = 20;

/** The end of a text in so many cells. */
export const tailOf = (text: string, width: number): string => {
  const graphemes = graphemesOf(text);
  let from = graphemes.length;
  for (let cells = 0; from > 0; from--) {
    cells += widthOf(graphemes[from - 1] ?? "");
    if (cells > width) break;
  }
  return graphemes.slice(from).join("");
};

/** A text from outside, broken between words into lines of so many cells; a word that is longer is broken where it has to be. */
export const wrapped = (text: string, width: number): readonly string[] =>
  printable(text.replaceAll("\t", "  ").replaceAll(/\r\n?|[\u2028\u2029\v\f]/g, "\n"))
    .split("\n")
    .flatMap((paragraph) => wrappedParagraph(paragraph.trimEnd(), Math.max(width, 1)));

const wrappedParagraph = (paragraph: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  let cells = 0;
  for (const word of paragraph.match(/\s*\S+/g) ?? []) {
    if (cells + widthOf(word) <= width) {
      line += word;
    } else {
      if (line !== "") lines.push(line);
      const pieces = broken(line === "" ? word : word.trimStart(), width);
      lines.push(...pieces.slice(0, -1));
      line = pieces.at(-1) ?? "";
    }
    cells = widthOf(line);
  }
  return [...lines, line];
};

/** A word in pieces of so many cells. */
const broken = (word: string, width: number): readonly string[] => {
  const pieces: string[] = [];
  let piece = "";
  let cells = 0;
  for (const grapheme of graphemesOf(word)) {
    const wide = widthOf(grapheme);
    if (cells + wide > width && piece !== "") {
      pieces.push(piece);
      piece = "";
      cells = 0;
    }
    piece += grapheme;
    cells += wide;
  }
  return [...pieces, piece];
};

/** The line with each place of some words marked, whatever their case. */
export const highlighted = (line: Line, words: string): Line => {
  if (words === "") return line;
  const wanted = words.toLowerCase();
  return line.flatMap(({ text, roles }): readonly Span[] => {
    const lower = text.toLowerCase();
    // Where lower case is of another length, places in it are none of the text.
    if (lower.length !== text.length || !lower.includes(wanted)) return [{ text, roles }];
    const spans: Span[] = [];
    let from = 0;
    for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
      if (at > from) spans.push({ text: text.slice(from, at), roles });
      from = at + wanted.length;
      spans.push({ text: text.slice(at, from), roles: [...roles, "match"] });
    }
    return from < text.length ? [...spans, { text: text.slice(from), roles }] : spans;
  });
};
