import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { printable, printableJson } from "./printable.ts";

/** How a text is shown, where the terminal has colours. */
export type Style = "plain" | "dim" | "bold" | "red";

/**
 * The one way to print: text from models, tools, servers and journals is shown, and steers no
 * terminal (see `printable`). That holds for files and pipes too: whoever shows such a file later is as safe, and
 * nothing is taken out unseen; `--output-format json` has every character. It keeps lines whole: a notice in the middle of a text begins a line of its own.
 */
export class Printer {
  readonly colour: boolean;
  /** The stream itself, for readline alone, which moves the cursor. Text from outside must not be written to it. */
  readonly unguarded: Writable;
  #atLineStart = true;
  /** The first half of a character, or of a line end, that is split between two pieces. */
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

  /** Prints a text on lines of its own. */
  line(text: string, style: Style = "plain"): void {
    this.endLine();
    this.#write(printable(text), style);
    this.unguarded.write("\n");
  }

  /** Prints a JSON value on lines of its own. What is printed parses to the same value. */
  json(value: unknown, indent?: number): void {
    this.line(printableJson(value, indent));
  }

  /** Is heard, where the terminal lets it. */
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
