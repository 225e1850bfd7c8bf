import type { InputFrame } from "../input/layout.ts";
import type { View } from "../views/view.ts";
import type { Line, Size } from "../text/line.ts";

export type { InputFrame };

/** The content of the screen at one moment. The screen knows nothing else of a conversation. */
export interface Shown {
  /** Only appended to: each is written once, in order, into the scrollback. */
  readonly finished: readonly FinishedLines[];
  /** Redrawn above the input; only its end if it is too high. */
  readonly open: (size: Size) => readonly Line[];
  /** The laid out input with its cursor, and the offered completions. */
  readonly input: (size: Size) => InputFrame;
  /** One row above the input, cut to the width. */
  readonly status: (size: Size) => Line;
  /** The view on the alternate screen, in place of all this. */
  readonly view: View | null;
}

/**
 * A finished block: laid out when it is written, for the present width. A paragraph is one line, which the terminal
 * itself wraps.
 */
export interface FinishedLines {
  readonly id: number;
  readonly lines: (columns: number) => readonly Line[];
}
