import type { Action } from "./action.ts";
import { editorOf, typed } from "./editor.ts";
import { edited } from "./edits.ts";
import type { Key } from "./key.ts";

/** What a key makes of words that are searched for, in one line; null where it is no key for that. `action`: what it does by the keymap. */
export const queryAfter = (words: string, key: Key, action: Action | undefined): string | null => {
  const editor = editorOf(words);
  if (key.type !== "key") return typed(editor, key.text.replaceAll(/\s+/g, " ")).text;
  return action !== undefined && edits.has(action) ? (edited(editor, action, anySize)?.text ?? null) : null;
};

const edits: ReadonlySet<Action> = new Set(["deleteBackward", "deleteWordBackward", "killToLineStart", "clearInput"]);

/** None of these moves by rows. */
const anySize = { columns: 80, rows: 24 };
