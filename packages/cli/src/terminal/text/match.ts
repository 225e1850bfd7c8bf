import { type Line, type Span, textOfLine } from "./line.ts";

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
