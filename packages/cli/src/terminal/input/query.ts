import type { Action } from "./action.ts";
import { editorOf, typed } from "./editor.ts";
import { edited } from "./edits.ts";
import type { Key } from "./key.ts";

/**
 * Applies a key to a search query in one line; null if the key does not edit it. `action` is the key's action in the
 * keymap.
 */
export const queryAfter = (words: string, key: Key, action: Action | undefined): string | null => {
  const editor = editorOf(words);
  if (key.type !== "key") return typed(editor, key.text.replaceAll(/\s+/g, " ")).text;
  return action !== undefined && edits.has(action) ? (edited(editor, action, anySize)?.text ?? null) : null;
};

const edits: ReadonlySet<Action> = new Set(["deleteBackward", "deleteWordBackward", "killToLineStart", "clearInput"]);

/** None of the allowed actions moves by rows. */
const anySize = { columns: 80, rows: 24 };
