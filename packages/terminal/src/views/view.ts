import type { Key } from "../input/key.ts";
import type { Line, Size } from "../text/line.ts";

/** A full-screen view, as a value: what it shows follows from it and from the size of the screen alone. */
export interface View {
  readonly title: string;
  /** At most so many rows as there are, the title first, each narrower than the columns; `cursor` where text is typed. */
  readonly show: (size: Size) => ViewFrame;
  /** What a key makes of it. */
  readonly press: (key: Key, size: Size) => ViewStep;
}

export interface ViewFrame {
  readonly lines: readonly Line[];
  readonly cursor?: { readonly row: number; readonly column: number };
}

/** The view that follows, and what the conversation is to do; with neither, it stays as it is. */
export interface ViewStep {
  /** Null: it closes. */
  readonly view?: View | null;
  /** What follows later from the same key, unless another one was pressed meanwhile. Never rejects. */
  readonly later?: Promise<ViewStep>;
  readonly action?: ViewAction;
}

/** What a view has the conversation do. */
export type ViewAction =
  | { readonly type: "moveHead"; readonly turn: number }
  | { readonly type: "fork"; readonly turn: number }
  | { readonly type: "checkpoint"; readonly turn: number }
  /** The question of a turn comes into the input, to be asked anew as a branch at its parent. */
  | { readonly type: "edit"; readonly turn: number }
  /** Of a thread without a turn, where its head is. */
  | { readonly type: "openThread"; readonly threadId: string; readonly turn?: number }
  | { readonly type: "copy"; readonly text: string };
