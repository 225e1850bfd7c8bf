import { stripVTControlCharacters } from "node:util";
import type { Instance } from "ink";
import { createElement as h } from "react";
import { graphemesOf, widthOf } from "../text/wrap.ts";
import { type InkOutput, Frame, inkOn, type Rows } from "./ink.ts";

/**
 * The last rows of the normal screen, which Ink redraws, below all finished text. Ink does not write the finished text,
 * because it would break paragraphs into rows. It also erases by what it drew, not by the rows that a resize made of
 * that.
 */
export interface LiveRegion {
  /** Writes `finished` above, in whole lines, and the changed rows. */
  readonly draw: (finished: string, rows: Rows) => void;
  /** Removes the region: the cursor is at its beginning. The next `draw` restores it. */
  readonly erase: () => void;
  readonly end: () => void;
  /** Resolves when everything is written: Ink delays a frame within a millisecond of another. */
  readonly flushed: () => Promise<void>;
}

/** `onEnd` runs when the region ends, also because the process ends or is killed. */
export const liveRegion = (
  output: InkOutput,
  input: NodeJS.ReadableStream,
  onEnd: () => void = () => {},
): LiveRegion => {
  let ink: Instance | null = null;
  let drawn = nothing;
  let size = "";
  const erased = (): void => {
    const { rows, cursor } = drawn;
    const above = cursor === null ? rows : rows.slice(0, cursor.row);
    const height = above.reduce((sum, row) => sum + wrappedHeight(row, output.columns), 0);
    output.silently(() => ink?.clear());
    if (rows.length > 0) output.write(`\x1b[?25l${height > 0 ? `\x1b[${height}A` : ""}\r\x1b[J`);
    drawn = nothing;
    size = output.size;
  };
  const erase = (): void => output.together(erased);
  return {
    draw: (finished, rows) =>
      output.together(() => {
        if (finished !== "" || output.size !== size) erased();
        if (finished !== "") output.write(finished);
        const again = writtenAgain(drawn, rows);
        drawn = rows;
        if (again !== "") output.write(wrapOff);
        if (ink === null) ink = inkOn(output, input, rows, { onEnd });
        else ink.rerender(h(Frame, rows));
        if (again !== "") output.write(`${again}${wrapOn}`);
      }),
    erase,
    end: () => {
      erase();
      ink?.unmount();
    },
    flushed: async () => ink?.waitUntilRenderFlush(),
  };
};

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
