import { type Editor, editorOf } from "./editor.ts";

/** Where inputs are kept beyond a conversation. */
export interface HistoryPort {
  /** Oldest first. */
  readonly load: () => Promise<readonly string[]>;
  readonly append: (text: string) => Promise<void>;
}

/** What was typed before, and which of it is in the input. */
export interface InputHistory {
  /** Oldest first. */
  readonly inputs: readonly string[];
  /** Their number: the draft, which is none of them yet. */
  readonly at: number;
  /** What was made of each, the draft among them. */
  readonly edited: ReadonlyMap<number, Editor>;
}

/** A history at its end. */
export const historyOf = (inputs: readonly string[]): InputHistory => ({
  inputs,
  at: inputs.length,
  edited: new Map(),
});

/** One input back (-1) or forth (1), and what is left behind as it is; null: there is none. */
export const stepped = (
  history: InputHistory,
  editor: Editor,
  by: -1 | 1,
): { readonly history: InputHistory; readonly editor: Editor } | null => {
  const at = history.at + by;
  if (at < 0 || at > history.inputs.length) return null;
  const edited = new Map(history.edited).set(history.at, editor);
  return { history: { ...history, at, edited }, editor: edited.get(at) ?? editorOf(history.inputs[at] ?? "") };
};

/** With what was sent, unless it is the same as the last. */
export const remembered = ({ inputs }: InputHistory, text: string): InputHistory =>
  historyOf(text === inputs.at(-1) || text.trim() === "" ? inputs : [...inputs, text]);
