import type { Line } from "../text/line.ts";
import { BlockReader } from "./block-reader.ts";
import type { MarkdownBlock } from "./markdown-block.ts";
import { markdownBlockLines } from "./markdown-lines.ts";
import type { MarkdownLook } from "./place.ts";

/**
 * Markdown as it streams in. However a text is cut into pieces, the same blocks come of it, each once; the work grows
 * with its length alone.
 */
export class MarkdownStream {
  readonly #reader = new BlockReader();
  /** The line that has no end yet. */
  #partial = "";

  add(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#partial += first;
    for (const next of rest) {
      this.#reader.line(withoutReturn(this.#partial));
      this.#partial = next;
    }
  }

  /** The blocks that became final since the last time. */
  take(): readonly MarkdownBlock[] {
    return this.#reader.finished.splice(0);
  }

  /** The same of a text that is complete. */
  end(): readonly MarkdownBlock[] {
    if (this.#partial !== "") this.#reader.line(withoutReturn(this.#partial));
    this.#partial = "";
    this.#reader.end();
    return this.take();
  }

  /** The block that may still change, where there is one; of a long one, the end. */
  open(): readonly MarkdownBlock[] {
    const block = this.#reader.open(withoutReturn(this.#partial));
    return block === null ? [] : [block];
  }
}

/** The blocks of a whole text. */
export const markdownBlocks = (markdown: string): readonly MarkdownBlock[] => {
  const stream = new MarkdownStream();
  stream.add(markdown);
  return stream.end();
};

/** A whole text, laid out. */
export const markdownLines = (markdown: string, look: MarkdownLook): readonly Line[] =>
  markdownBlocks(markdown).flatMap((block) => markdownBlockLines(block, look));

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
