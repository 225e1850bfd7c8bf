import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { printable, printableJson } from "./printable.ts";

/** How something is shown, where colours are. */
export type Style = "plain" | "dim" | "bold" | "red";

/**
 * The one way to print: whatever models, tools, servers and journals wrote reaches a terminal without control
 * characters (see `printable`). Keeps whole lines whole: a notice in the middle of a text begins a line of its own.
 */
export class Screen {
  readonly colour: boolean;
  /** The stream itself, for readline alone, which steers the cursor. Nothing that somebody else wrote goes there. */
  readonly unguarded: Writable;
  #atLineStart = true;
  /** Of a character that came in two pieces, the first half. */
  #half = "";

  constructor(output: Writable, colour = false) {
    this.unguarded = output;
    this.colour = colour;
  }

  /** A piece of a text, as it comes. */
  text(piece: string, style: Style = "plain"): void {
    const whole = this.#half + piece;
    this.#half = /[\uD800-\uDBFF]$/.exec(whole)?.[0] ?? "";
    const shown = printable(whole.slice(0, whole.length - this.#half.length));
    if (shown === "") return;
    this.#write(shown, style);
    this.#atLineStart = shown.endsWith("\n");
  }

  /** Something on lines of its own. */
  line(text: string, style: Style = "plain"): void {
    this.endLine();
    this.#write(printable(text), style);
    this.unguarded.write("\n");
  }

  /** A JSON value on lines of its own, that parses to the same value. */
  json(value: unknown, indent?: number): void {
    this.line(printableJson(value, indent));
  }

  /** What follows begins a line. */
  endLine(): void {
    this.#half = "";
    if (!this.#atLineStart) this.unguarded.write("\n");
    this.#atLineStart = true;
  }

  #write(text: string, style: Style): void {
    this.unguarded.write(this.colour && style !== "plain" ? styleText(style, text, { validateStream: false }) : text);
  }
}
