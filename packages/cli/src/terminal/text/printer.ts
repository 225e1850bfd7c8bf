import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { printable, printableJson } from "./printable.ts";

/** The look of a text, if the terminal has colours. */
export type Style = "plain" | "dim" | "bold" | "red";

/**
 * The only way to print: text from models, tools, servers and journals becomes visible, and cannot control a terminal
 * (see `printable`). That also applies to files and pipes, so that showing such a file later is safe, and nothing is
 * removed silently; `--output-format json` has every character. Lines stay whole: a notice in the middle of a text
 * begins a new line.
 */
export class Printer {
  readonly colour: boolean;
  /** The stream itself, only for readline, which moves the cursor. Text from outside must not be written to it. */
  readonly unguarded: Writable;
  #atLineStart = true;
  /** The first half of a surrogate pair, or of a line end, that is split between two pieces. */
  #half = "";

  constructor(output: Writable, colour = false) {
    this.unguarded = output;
    this.colour = colour;
  }

  /** Prints a piece of a text as it streams in. */
  text(piece: string, style: Style = "plain"): void {
    const whole = this.#half + piece;
    this.#half = /[\uD800-\uDBFF\r]$/.exec(whole)?.[0] ?? "";
    const shown = printable(whole.slice(0, whole.length - this.#half.length));
    if (shown === "") return;
    this.#write(shown, style);
    this.#atLineStart = shown.endsWith("\n");
  }

  /** Prints a text on separate lines. */
  line(text: string, style: Style = "plain"): void {
    this.endLine();
    this.#write(printable(text), style);
    this.unguarded.write("\n");
  }

  /** Prints a JSON value on separate lines. The output parses to the same value. */
  json(value: unknown, indent?: number): void {
    this.line(printableJson(value, indent));
  }

  /** Rings the bell, if the terminal has one. */
  bell(): void {
    this.unguarded.write("\u0007");
  }

  /** Makes the next text begin a line. */
  endLine(): void {
    const half = printable(this.#half.replace("\r", ""));
    this.#half = "";
    if (half !== "") this.text(half);
    if (!this.#atLineStart) this.unguarded.write("\n");
    this.#atLineStart = true;
  }

  #write(text: string, style: Style): void {
    this.unguarded.write(this.colour && style !== "plain" ? styleText(style, text, { validateStream: false }) : text);
  }
}
