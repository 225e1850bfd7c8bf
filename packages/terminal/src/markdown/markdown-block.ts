/**
 * A piece of Markdown that stands for itself: a paragraph, a heading, a table, a quote, one item of a list, or some
 * lines of a code block. Plain data; `markdownBlockLines` lays it out.
 */
export interface MarkdownBlock {
  /** Of code its lines, without the fences around them. */
  readonly source: string;
  /** Whether an empty line goes before it. */
  readonly gap: boolean;
  /** That of an item of a numbered list. */
  readonly number: number | null;
  readonly code: CodePart | null;
}

/** What stood behind the opening fence, shown above the first part. */
export interface CodePart {
  readonly language: string;
  readonly isFirst: boolean;
}
