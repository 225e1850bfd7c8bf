import { stripVTControlCharacters } from "node:util";
import type { Instance } from "ink";
import { createElement as h } from "react";
import { graphemesOf, widthOf } from "../text/width.ts";
import type { InkOutput } from "./ink-output.ts";
import { Frame, inkOn, type Rows } from "./rows.ts";

/**
 * The last rows of the normal screen, which Ink redraws, below all finished text. Ink does not write the finished text,
 * because it would break paragraphs into rows. It also erases by what it drew, not by the rows that a resize made of
 * that.
 */
export class LiveRegion {
  readonly #output: InkOutput;
  readonly #input: NodeJS.ReadableStream;
  readonly #onEnd: () => void;
  #ink: Instance | null = null;
  #drawn: Rows = nothing;
  #size = "";

  /** `onEnd` runs when the region ends, also because the process ends or is killed. */
  constructor(output: InkOutput, input: NodeJS.ReadableStream, onEnd: () => void = () => {}) {
    this.#output = output;
    this.#input = input;
    this.#onEnd = onEnd;
  }

  /** Writes `finished` above, in whole lines, and the changed rows. */
  draw(finished: string, rows: Rows): void {
    this.#output.together(() => {
      if (finished !== "" || this.#sizeNow() !== this.#size) this.#erase();
      if (finished !== "") this.#output.write(finished);
      const before = this.#drawn;
      this.#drawn = rows;
      const again = writtenAgain(before, rows);
      if (again !== "") this.#output.write(wrapOff);
      if (this.#ink === null) this.#ink = inkOn(this.#output, this.#input, rows, { onEnd: this.#onEnd });
      else this.#ink.rerender(h(Frame, rows));
      if (again !== "") this.#output.write(`${again}${wrapOn}`);
    });
  }

  /** Removes the region: the cursor is at its beginning. The next `draw` restores it. */
  erase(): void {
    this.#output.together(() => this.#erase());
  }

  end(): void {
    this.erase();
    this.#ink?.unmount();
  }

  /** Resolves when everything is written: Ink delays a frame within a millisecond of another. */
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

/**
 * Returns the number of terminal rows that a drawn row takes, since it may now be wider than the terminal. Ink leaves
 * out spaces at its end.
 */
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

/**
 * Rewrites rows with emoji whose width differs between terminals. Ink continues in the middle of a row, at the column
 * that it computes. Such rows are therefore written whole, and the text before the cursor is written again, so that the
 * cursor is after it.
 */
const writtenAgain = (before: Rows, { rows, cursor }: Rows): string => {
  if (cursor === null) return "";
  const whole = rows.flatMap((row, index) => {
    if (!disputed.test(row) || row === before.rows[index]) return [];
    const up = cursor.row - index;
    return up === 0 ? [`\r${row}\x1b[K`] : [`\x1b[${up}A\r${row}\x1b[K\x1b[${up}B`];
  });
  const typed = startOf(rows[cursor.row] ?? "", cursor.column);
  return whole.length > 0 || disputed.test(typed) ? [...whole, `\r${typed}`].join("") : "";
};

/** Returns the beginning of a painted row up to a width. */
const startOf = (row: string, columns: number): string => {
  let width = 0;
  return row
    .split(sequences)
    .flatMap((part, index) => (index % 2 === 0 ? graphemesOf(part) : [part]))
    .filter((part) => part.startsWith("\x1b") || (width += widthOf(part)) <= columns)
    .join("");
};

/** Matches emoji of several parts, and characters that a selector turns into emoji. */
const disputed = /\p{Emoji_Modifier}|\p{Regional_Indicator}|\p{Extended_Pictographic}|\u200D|\uFE0F|\u20E3/u;
// oxlint-disable-next-line no-control-regex -- these are the sequences.
const sequences = /(\x1b\[[\d;]*m|\x1b\]8;;[^\x07]*\x07)/;

const wrapOff = "\x1b[?7l";
const wrapOn = "\x1b[?7h";

const nothing: Rows = { rows: [], cursor: null };
