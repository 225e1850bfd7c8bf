import type { Instance } from "ink";
import { createElement as h } from "react";
import type { InkOutput } from "./ink-output.ts";
import { Frame, inkOn, type Rows } from "./rows.ts";
import { keyboardOff, keyboardOn } from "./terminal-modes.ts";

/** The alternate screen for full-screen views: entered with the first frame; leaving it restores the normal screen. */
export class AlternateScreen {
  readonly #output: InkOutput;
  readonly #input: NodeJS.ReadableStream;
  #ink: Instance | null = null;
  #size = "";

  constructor(output: InkOutput, input: NodeJS.ReadableStream) {
    this.#output = output;
    this.#input = input;
  }

  get isEntered(): boolean {
    return this.#ink !== null;
  }

  draw(rows: Rows): void {
    this.#output.together(() => {
      const size = `${this.#output.columns}×${this.#output.rows}`;
      const ink = this.#ink;
      if (ink === null) {
        this.#ink = inkOn(this.#output, this.#input, rows, { alternateScreen: true });
        this.#output.write(keyboardOn);
      } else {
        if (size !== this.#size) {
          this.#output.silently(() => ink.clear());
          this.#output.write("\x1b[H\x1b[J");
        }
        ink.rerender(h(Frame, rows));
      }
      this.#size = size;
    });
  }

  leave(): void {
    const ink = this.#ink;
    this.#ink = null;
    if (ink === null) return;
    this.#output.together(() => {
      this.#output.write(keyboardOff);
      ink.unmount();
    });
  }
}
