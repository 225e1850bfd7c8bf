import type { InputFrame } from "../input/layout.ts";
import type { View } from "../views/view.ts";
import type { Line, Size } from "../text/line.ts";

export type { InputFrame };

/** What is on the screen at one moment. The screen draws it, and knows nothing else of a conversation. */
export interface Shown {
  /** Appended to, never changed: each is written once, in order, into the scrollback. */
  readonly finished: readonly FinishedLines[];
  /** Redrawn above the input, its end where it is higher than the room. */
  readonly open: (size: Size) => readonly Line[];
  /** The input as it is laid out, with the cursor in it, and what is offered to complete it. */
  readonly input: (size: Size) => InputFrame;
  /** One row above the input, cut to the width. */
  readonly status: (size: Size) => Line;
  /** On the alternate screen, instead of all this. */
  readonly view: View | null;
}

/** A finished block: laid out when it is written, for the width of that moment. A paragraph is one line, which the terminal itself wraps. */
export interface FinishedLines {
  readonly id: number;
  readonly lines: (columns: number) => readonly Line[];
}
