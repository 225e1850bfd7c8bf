import { Writable } from "node:stream";
import type { TerminalOutput } from "./screen-options.ts";

/**
 * What Ink takes for the terminal. All that it writes in one step goes on in one piece and as one synchronized update,
 * together with what it must not lay out; resizes it does not hear of.
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
    return this.#terminal.columns ?? 80;
  }

  get rows(): number {
    return this.#terminal.rows ?? 24;
  }

  /** Writes together what is written in this step. */
  together(step: () => void): void {
    const pieces = this.#gather(step);
    const text = pieces.join("").replaceAll(synchronized, "");
    if (text !== "") this.#terminal.write(`${begin}${text}${end}`);
  }

  /** Takes a step of Ink's, and writes nothing of it. */
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
