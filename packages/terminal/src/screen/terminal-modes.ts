// What a terminal is switched to while the screen has it. All of it is switched back, whatever the end.
import type { TerminalInput, TerminalOutput } from "./screen-options.ts";

/** Pastes are marked, and keys told apart that were one: `CSI > 1 u` of kitty, which other terminals pass over. */
const modesOn = "\x1b[?2004h\x1b[>1u";
const modesOff = "\x1b[<u\x1b[?2004l\x1b[?25h";

/** The alternate screen has keyboard modes of its own. */
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

  /** Sets them again, where another program may have changed them. The raw mode is first: a process behind its shell is stopped by it before it writes. */
  renew(): void {
    if (!this.#isOn) return;
    this.#input.setRawMode?.(false);
    this.#input.setRawMode?.(true);
    this.#output.write(`${modesOff}${modesOn}`);
  }

  /** May be called again, also while the process ends. */
  off(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#output.write(modesOff);
    this.#input.pause();
    this.#input.setRawMode?.(false);
  }
}
