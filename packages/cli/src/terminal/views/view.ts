import type { Key } from "../input/key.ts";
import type { Line, Size } from "../text/line.ts";

/** A full-screen view, as a value: its content depends only on it and on the size of the screen. */
export interface View {
  readonly title: string;
  /**
   * Returns at most as many rows as the screen has, the title first, each narrower than the screen. `cursor` is set if
   * text is typed.
   */
  readonly show: (size: Size) => ViewFrame;
  /** Returns the effect of a key. */
  readonly press: (key: Key, size: Size) => ViewStep;
}

export interface ViewFrame {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** The next view, and an action of the conversation; with neither, nothing changes. */
export interface ViewStep {
  /** Null closes the view. */
  readonly view?: View | null;
  /** A later effect of the same key, unless another key was pressed meanwhile. Never rejects. */
  readonly later?: Promise<ViewStep>;
  readonly action?: ViewAction;
}

/** An action that a view requests from the conversation. */
export type ViewAction =
  | { readonly type: "moveHead"; readonly turn: number }
  | { readonly type: "fork"; readonly turn: number }
  | { readonly type: "checkpoint"; readonly turn: number }
  /** Puts the question of a turn into the input, to be asked again as a branch from its parent. */
  | { readonly type: "edit"; readonly turn: number }
  /** Without a turn, opens the thread at its head. */
  | { readonly type: "openThread"; readonly threadId: string; readonly turn?: number }
  | { readonly type: "copy"; readonly text: string };
