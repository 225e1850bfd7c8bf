/** What a piece of text is, for the theme to give it a look. */
export type Role =
  | "plain"
  | "strong"
  | "emphasis"
  | "struck"
  | "heading"
  | "link"
  | "code"
  | "keyword"
  | "string"
  | "number"
  | "comment"
  | "name"
  | "dim"
  | "prompt"
  | "selected"
  | "match"
  | "added"
  | "removed"
  | "success"
  | "warning"
  | "error";

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
