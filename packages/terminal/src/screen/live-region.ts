import { stripVTControlCharacters } from "node:util";
import type { Instance } from "ink";
import { createElement as h } from "react";
import { graphemesOf, widthOf } from "../text/width.ts";
import type { InkOutput } from "./ink-output.ts";
import { Frame, inkOn, type Rows } from "./rows.ts";

/**
 * The last rows of the normal screen, which Ink redraws, below all that is finished. Ink has no part in what is
 * finished: it would break paragraphs into rows, and erases by what it drew, not by what a resize made of it.
 */
export class LiveRegion {
  readonly #output: InkOutput;
  readonly #input: NodeJS.ReadableStream;
  readonly #onEnd: () => void;
  #ink: Instance | null = null;
  #drawn: Rows = nothing;
  #size = "";

  /** `onEnd` runs when it ends, also because the process ends or is ended. */
  constructor(output: InkOutput, input: NodeJS.ReadableStream, onEnd: () => void = () => {}) {
    this.#output = output;
    this.#input = input;
    this.#onEnd = onEnd;
  }

  /** Writes `finished` above, in whole lines, and what changed of the rows. */
  draw(finished: string, rows: Rows): void {
    this.#output.together(() => {
      if (finished !== "" || this.#sizeNow() !== this.#size) this.#erase();
      if (finished !== "") this.#output.write(finished);
      this.#drawn = rows;
      if (this.#ink === null) this.#ink = inkOn(this.#output, this.#input, rows, { onEnd: this.#onEnd });
      else this.#ink.rerender(h(Frame, rows));
    });
  }

  /** Takes the region away: the cursor stands where it began. The next `draw` brings it back. */
  erase(): void {
    this.#output.together(() => this.#erase());
  }

  end(): void {
    this.erase();
    this.#ink?.unmount();
  }

  /** Resolves when all is written. */
  async flushed(): Promise<void> {
    await this.#ink?.waitUntilRenderFlush();
  }

  #erase(): void {
    const { rows, cursor } = this.#drawn;
    const above = cursor === null ? rows : rows.slice(0, cursor.row);
    const height = above.reduce((sum, row) => sum + wrappedHeight(row, this.#output.columns), 0);
    this.#output.silently(() => this.#ink?.clear());
    if (rows.length > 0) this.#output.write(`\x1b[?25l${height > 0 ? `\x1b[${height}A` : ""}\r\x1b[J`);
    this.#drawn = nothing;
    this.#size = this.#sizeNow();
  }

  #sizeNow(): string {
    return `${this.#output.columns}×${this.#output.rows}`;
  }
}

/** How many rows a terminal makes of one that may be wider than it is by now. Ink leaves out spaces at its end. */
const wrappedHeight = (row: string, columns: number): number => {
  const text = stripVTControlCharacters(row.trimEnd());
  if (widthOf(text) <= columns) return 1;
  let height = 1;
  let used = 0;
  for (const grapheme of graphemesOf(text)) {
    const width = widthOf(grapheme);
    if (used + width > columns) {
      height += 1;
      used = 0;
    }
    used += width;
  }
  return height;
};

const nothing: Rows = { rows: [], cursor: null };
