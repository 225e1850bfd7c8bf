import type { Writable } from "node:stream";
import { styleText } from "node:util";

/** How something is shown, where colours are. */
export type Style = "plain" | "dim" | "bold" | "red";

/** What a conversation is written to. Keeps whole lines whole: a notice in the middle of a text begins a line of its own. */
export class Screen {
  readonly colour: boolean;
  readonly #output: Writable;
  #atLineStart = true;

  constructor(output: Writable, colour: boolean) {
    this.#output = output;
    this.colour = colour;
  }

  /** A piece of a text, as it comes. */
  text(piece: string, style: Style = "plain"): void {
    const shown = printable(piece);
    if (shown === "") return;
    this.#write(shown, style);
    this.#atLineStart = shown.endsWith("\n");
  }

  /** Something on lines of its own. */
  line(text: string, style: Style = "plain"): void {
    this.endLine();
    this.#write(printable(text), style);
    this.#output.write("\n");
  }

  /** What follows begins a line. */
  endLine(): void {
    if (!this.#atLineStart) this.#output.write("\n");
    this.#atLineStart = true;
  }

  #write(text: string, style: Style): void {
    this.#output.write(this.colour && style !== "plain" ? styleText(style, text, { validateStream: false }) : text);
  }
}

/** What a model, a tool or a server says must not steer the terminal: control characters but tab and newline go. */
export const printable = (text: string): string =>
  text.replaceAll(/(?![\t\n])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu, "");
