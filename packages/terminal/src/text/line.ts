/** What a piece of text is, for the theme to give it a look. */
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

/** A piece of a line. Its text may hold anything: `painted` shows control characters and never sends them. */
export interface Span {
  readonly text: string;
  /** Those further back go before. */
  readonly roles: readonly Role[];
  /** The address that it leads to, where the theme has terminals open them. */
  readonly link?: string;
}

/** One line: no span holds a line end. */
export type Line = readonly Span[];

/** The size of a terminal, in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** A text as a piece of a line. */
export const span = (text: string, ...given: readonly Role[]): Span => ({ text, roles: given });

/** A text as a line. */
export const line = (text: string, ...given: readonly Role[]): Line => [span(text, ...given)];

/** The lines of a text, whichever ends they have. */
export const textLines = (text: string, ...given: readonly Role[]): readonly Line[] =>
  text.split(/\r\n?|[\n\u2028\u2029\v\f]/).map((each) => line(each, ...given));

/** What a line says. */
export const textOfLine = (given: Line): string => given.map(({ text }) => text).join("");
