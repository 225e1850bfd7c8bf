import { Writable } from "node:stream";
import type { TerminalOutput } from "../conversation/screen-port.ts";
import { type Instance, render, Text, useCursor } from "ink";
import { createElement as h, type FunctionComponent, useLayoutEffect, useRef } from "react";

/**
 * The output stream that Ink treats as the terminal. All writes of one step are sent together as one synchronized
 * update, with the text that Ink must not lay out. Ink does not learn of resizes.
 */
export class InkOutput extends Writable {
  readonly isTTY = true;
  readonly #terminal: TerminalOutput;
  #pieces: string[] | null = null;

  constructor(terminal: TerminalOutput) {
    super({ decodeStrings: false });
    this.#terminal = terminal;
  }

  get columns(): number {
    return this.#terminal.columns || 80;
  }

  get rows(): number {
    return this.#terminal.rows || 24;
  }

  get size(): string {
    return `${this.columns}×${this.rows}`;
  }

  /** Sends the writes of a step together. */
  together(step: () => void): void {
    const pieces = this.#gather(step);
    const text = pieces.join("").replaceAll(synchronized, "");
    if (text !== "") this.#terminal.write(`${begin}${text}${end}`);
  }

  /** Runs a step of Ink, and drops its writes. */
  silently(step: () => void): void {
    this.#gather(step);
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    if (this.#pieces === null) this.#terminal.write(chunk);
    else this.#pieces.push(chunk);
    done();
  }

  #gather(step: () => void): readonly string[] {
    const before = this.#pieces;
    const pieces: string[] = [];
    this.#pieces = pieces;
    try {
      step();
    } finally {
      this.#pieces = before;
    }
    return pieces;
  }
}

const begin = "\x1b[?2026h";
const end = "\x1b[?2026l";
// oxlint-disable-next-line no-control-regex -- these are the sequences.
const synchronized = /\x1b\[\?2026[hl]/g;

/** Painted rows, none as wide as the terminal; without a cursor, the cursor is hidden. */
export interface Rows {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

/**
 * Starts Ink with these rows first; it then draws only changed rows. `onEnd` runs when Ink exits, also because the
 * process ends or is killed.
 */
export const inkOn = (
  stdout: InkOutput,
  stdin: NodeJS.ReadableStream,
  rows: Rows,
  { alternateScreen = false, onEnd }: { readonly alternateScreen?: boolean; readonly onEnd?: () => void } = {},
): Instance =>
  render(h(Frame, { ...rows, onEnd }), {
    stdout,
    stdin,
    alternateScreen,
    interactive: true,
    incrementalRendering: true,
    patchConsole: false,
    exitOnCtrlC: false,
    isScreenReaderEnabled: false,
    // The screen paces itself, so Ink must draw at once.
    maxFps: 1000,
  });

export const Frame: FunctionComponent<Rows & { readonly onEnd?: (() => void) | undefined }> = ({
  rows,
  cursor,
  onEnd,
}) => {
  const { setCursorPosition } = useCursor();
  setCursorPosition(cursor === null ? undefined : { x: cursor.column, y: cursor.row });
  const end = useRef(onEnd);
  useLayoutEffect(() => () => end.current?.(), []);
  return rows.length === 0 ? null : h(Text, { wrap: "truncate-end" }, rows.map((row) => row || " ").join("\n"));
};
