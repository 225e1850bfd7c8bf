import type { Line } from "../text/line.ts";
import { BlockReader } from "./block-reader.ts";
import type { MarkdownBlock } from "./markdown-block.ts";
import { markdownBlockLines } from "./markdown-lines.ts";
import type { MarkdownLook } from "./place.ts";

/**
 * Streaming Markdown. However a text is split, it gives the same blocks, each once. The work is proportional to its
 * length.
 */
export class MarkdownStream {
  readonly #reader = new BlockReader();
  /** The line without an end yet. */
  #partial = "";

  add(text: string): void {
    const [first = "", ...rest] = text.split("\n");
    this.#partial += first;
    for (const next of rest) {
      this.#reader.line(withoutReturn(this.#partial));
      this.#partial = next;
    }
  }

  /** Returns the blocks that became final since the last call. */
  take(): readonly MarkdownBlock[] {
    return this.#reader.finished.splice(0);
  }

  /** Ends the text, and returns its remaining blocks. */
  end(): readonly MarkdownBlock[] {
    if (this.#partial !== "") this.#reader.line(withoutReturn(this.#partial));
    this.#partial = "";
    this.#reader.end();
    return this.take();
  }

  /** Returns the block that may still change, if there is one; only the end of a long one. */
  open(): readonly MarkdownBlock[] {
    const block = this.#reader.open(withoutReturn(this.#partial));
    return block === null ? [] : [block];
  }
}

/** Returns the blocks of a whole text. */
export const markdownBlocks = (markdown: string): readonly MarkdownBlock[] => {
  const stream = new MarkdownStream();
  stream.add(markdown);
  return stream.end();
};

/** Lays out a whole text. */
export const markdownLines = (markdown: string, look: MarkdownLook): readonly Line[] =>
  markdownBlocks(markdown).flatMap((block) => markdownBlockLines(block, look));

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);
