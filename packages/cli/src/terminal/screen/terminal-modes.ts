// The terminal modes while the screen is active. They are reset in any case.
import type { TerminalInput, TerminalOutput } from "./screen-options.ts";

/**
 * Marks pastes, and distinguishes keys that otherwise send the same: `CSI > 1 u` of kitty, which other terminals
 * ignore.
 */
const modesOn = "\x1b[?2004h\x1b[>1u";
const modesOff = "\x1b[<u\x1b[?2004l\x1b[?25h";

/** The alternate screen has separate keyboard modes. */
export const keyboardOn = "\x1b[>1u";
export const keyboardOff = "\x1b[<u";

export class TerminalModes {
  readonly #input: TerminalInput;
  readonly #output: TerminalOutput;
  #isOn = false;

  constructor(input: TerminalInput, output: TerminalOutput) {
    this.#input = input;
    this.#output = output;
  }

  on(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#input.setRawMode?.(true);
    this.#input.resume();
    this.#output.write(modesOn);
  }

  /**
   * Sets the modes again, because another program may have changed them. The raw mode comes first: it stops a
   * background process before that writes.
   */
  renew(): void {
    if (!this.#isOn) return;
    this.#input.setRawMode?.(false);
    this.#input.setRawMode?.(true);
    this.#output.write(`${modesOff}${modesOn}`);
  }

  /** May be called repeatedly, also while the process ends. */
  off(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#output.write(modesOff);
    this.#input.pause();
    this.#input.setRawMode?.(false);
  }
}
