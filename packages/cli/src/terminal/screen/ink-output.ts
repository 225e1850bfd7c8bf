import { Writable } from "node:stream";
import type { TerminalOutput } from "./screen-options.ts";

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
    return this.#terminal.columns ?? 80;
  }

  get rows(): number {
    return this.#terminal.rows ?? 24;
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
