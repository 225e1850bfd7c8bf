import type { Line, Role, Span } from "../text/line.ts";
import { printable } from "../text/printable.ts";
import { graphemesOf, widthOf } from "../text/width.ts";
import { cutLine, linesIn, lineWidth, wrapped as wrappedLine } from "../text/wrap.ts";

/** A text from outside as a span of one line. */
export const span = (text: string, ...roles: readonly Role[]): Span => ({
  text: printable(text.replaceAll(/\s/g, " ")),
  roles,
});

/** Words with as many marks behind them as there is room for, the most important first; of the words some stay in any case. */
export const rowOf = (before: Line, words: Span, marks: readonly Line[], width: number): Line => {
  const behind: Span[] = [];
  // Combining marks and joined emoji take many units and few cells.
  const near = { ...words, text: words.text.slice(0, (width + 1) * 16) };
  const least = lineWidth(before) + Math.min(lineWidth([near]), leastWords, Math.floor(width / 3));
  for (const mark of marks) {
    if (least + lineWidth(behind) + lineWidth(mark) + separator.length <= width)
      behind.push({ text: separator, roles: [] }, ...mark);
  }
  return [...before, ...cutLine([near], width - lineWidth(before) - lineWidth(behind)), ...behind];
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

/** A text from outside as rows of so many cells. */
export const wrapped = (text: string, width: number): readonly string[] =>
  linesIn(text)
    .flatMap((paragraph) => wrappedLine([span(paragraph.replaceAll("\t", "  ").trimEnd())], Math.max(width, 1)))
    .map((row) => row.map(({ text: piece }) => piece).join(""));

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
