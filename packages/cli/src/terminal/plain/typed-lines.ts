import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import type { Lines, LinesSource } from "./lines.ts";

/**
 * Returns the lines that the user types at a terminal, with editing keys and history. Text that is typed while no
 * caller waits for a line is hidden then, and appears at the next prompt. Ctrl+C at the prompt ends the lines, and so
 * does Ctrl+D.
 */
export const typedLines = (source: LinesSource): Lines => {
  const gate = new Gate(source.printer.unguarded);
  const reader = createInterface({ input: source.input, output: gate, terminal: true, prompt: source.prompt });
  return new TypedLines(source, gate, reader);
};

class TypedLines implements Lines {
  onInterrupt: (() => void) | null = null;
  readonly #source: LinesSource;
  readonly #gate: Gate;
  readonly #reader: Interface;
  /** Lines that were typed ahead. */
  readonly #lines: string[] = [];
  #waiting: ((line: string | null) => void) | null = null;
  #closed = false;

  constructor(source: LinesSource, gate: Gate, reader: Interface) {
    this.#source = source;
    this.#gate = gate;
    this.#reader = reader;
    reader.on("line", (line) => {
      if (this.#waiting === null) this.#lines.push(line);
      else this.#give(line);
    });
    reader.on("SIGINT", () => {
      if (this.#waiting === null) this.onInterrupt?.();
      else this.close();
    });
    reader.on("close", () => {
      this.#closed = true;
      this.#gate.detach();
      if (this.#waiting === null) return;
      // The cursor is after the prompt.
      this.#source.printer.text("\n");
      this.#give(null);
    });
  }

  next(): Promise<string | null> {
    const typed = this.#lines.shift();
    if (typed !== undefined) {
      this.#source.printer.line(`${this.#source.prompt}${typed}`);
      return Promise.resolve(typed);
    }
    return this.#typed();
  }

  async answer(): Promise<string | null> {
    const begun = this.#reader.line;
    for (const name of ["e", "u"]) this.#reader.write(null, { ctrl: true, name });
    const line = await this.#typed();
    if (begun !== "" && !this.#closed) this.#reader.write(begun);
    return line;
  }

  #typed(): Promise<string | null> {
    if (this.#closed) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#gate.isOpen = true;
      this.#reader.prompt(true);
    });
  }

  close(): void {
    this.#reader.close();
  }

  #give(line: string | null): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    this.#gate.isOpen = false;
    waiting?.(line);
  }
}

/** Passes readline's output on, or drops it, so that typed text does not appear in an answer. */
class Gate extends Writable {
  isOpen = false;
  readonly #output: Writable & { readonly columns?: number };
  readonly #onResize = (): void => {
    this.emit("resize");
  };

  constructor(output: Writable) {
    super({ decodeStrings: false });
    this.#output = output;
    output.on("resize", this.#onResize);
  }

  /** Readline wraps lines at this width. */
  get columns(): number | undefined {
    return this.#output.columns;
  }

  detach(): void {
    this.#output.off("resize", this.#onResize);
  }

  override _write(chunk: string, _encoding: BufferEncoding, callback: () => void): void {
    if (this.isOpen) this.#output.write(chunk);
    callback();
  }
}
