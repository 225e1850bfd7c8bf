/** The meaning of a piece of text, from which the theme gives it a look. */
export type Role = (typeof roles)[number];

export const roles = [
  "plain",
  "strong",
  "emphasis",
  "struck",
  "heading",
  "link",
  "code",
  "keyword",
  "string",
  "number",
  "comment",
  "name",
  "dim",
  "prompt",
  "selected",
  "match",
  "added",
  "removed",
  "success",
  "warning",
  "error",
] as const;

/**
 * A piece of a line. Its text may contain anything: `painted` makes control characters visible and never sends them.
 */
export interface Span {
  readonly text: string;
  /** Later roles take precedence. */
  readonly roles: readonly Role[];
  /** The link's address, if the theme lets terminals open links. */
  readonly link?: string;
}

/** One line: no span contains a line end. */
export type Line = readonly Span[];

/** The size of a terminal, in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export const span = (text: string, ...given: readonly Role[]): Span => ({ text, roles: given });

export const line = (text: string, ...given: readonly Role[]): Line => [span(text, ...given)];

/** Splits a text into lines, at any kind of line end. */
export const textLines = (text: string, ...given: readonly Role[]): readonly Line[] =>
  text.split(/\r\n?|[\n\u2028\u2029\v\f]/).map((each) => line(each, ...given));

export const textOfLine = (given: Line): string => given.map(({ text }) => text).join("");
