import { type Editor, editorOf } from "./editor.ts";

/** The storage of inputs beyond a conversation. */
export interface HistoryPort {
  /** Oldest first. */
  readonly load: () => Promise<readonly string[]>;
  readonly append: (text: string) => Promise<void>;
}

/** The earlier inputs, and the index of the present one. */
export interface InputHistory {
  /** Oldest first. */
  readonly inputs: readonly string[];
  /** Equal to their number for the draft, which is not an earlier input yet. */
  readonly at: number;
  /** The edited versions of the inputs, including the draft. */
  readonly edited: ReadonlyMap<number, Editor>;
}

export const historyOf = (inputs: readonly string[]): InputHistory => ({
  inputs,
  at: inputs.length,
  edited: new Map(),
});

/** Moves to the previous input (-1) or the next one (1), and keeps the present one as edited. Null if there is none. */
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

/** Adds a sent text, unless it equals the last one. */
export const remembered = ({ inputs }: InputHistory, text: string): InputHistory =>
  historyOf(text === inputs.at(-1) || text.trim() === "" ? inputs : [...inputs, text]);
