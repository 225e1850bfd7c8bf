/**
 * An independent piece of Markdown: a paragraph, a heading, a table, a quote, one item of a list, or some lines of a
 * code block. Plain data; `markdownBlockLines` lays it out.
 */
export interface MarkdownBlock {
  /** For code, its lines without the fences. */
  readonly source: string;
  /** Whether an empty line precedes it. */
  readonly gap: boolean;
  /** The number of an item in a numbered list. */
  readonly number: number | null;
  readonly code: CodePart | null;
}

/** The text after the opening fence, shown above the first part. */
export interface CodePart {
  readonly language: string;
  readonly isFirst: boolean;
}
