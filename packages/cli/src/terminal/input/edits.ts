import type { Size } from "../text/line.ts";
import type { Action } from "./keymap.ts";
import { cleared, type Editor, replaced, typed, graphemeAt, wordEnd, wordStart, editorOf } from "./editor.ts";
import { placeBeside } from "./layout.ts";
import type { Key } from "./key.ts";

/** Applies an action to the input; null if it is not an editing action, or there is no row to move to. */
export const edited = (editor: Editor, action: Action, size: Size): Editor | null =>
  edits[action]?.(editor, size) ?? null;

const before = (editor: Editor): number => (editor.cursor === 0 ? 0 : graphemeAt(editor, editor.cursor - 1).start);
const behind = (editor: Editor): number => graphemeAt(editor, editor.cursor).end;
const wordBefore = (editor: Editor): number => wordStart(editor, editor.cursor);
const wordBehind = (editor: Editor): number => wordEnd(editor, editor.cursor);
const lineStart = ({ text, cursor }: Editor): number => text.slice(0, cursor).lastIndexOf("\n") + 1;
const lineEnd = ({ text, cursor }: Editor): number => {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
};

const to =
  (place: (editor: Editor) => number) =>
  (editor: Editor): Editor => ({ ...editor, cursor: place(editor), column: null });

const byRows =
  (by: number) =>
  (editor: Editor, size: Size): Editor | null => {
    const place = placeBeside(editor, by, size);
    return place === null ? null : { ...editor, ...place };
  };

const deleteForward = (editor: Editor): Editor => replaced(editor, editor.cursor, behind(editor));

const pageRows = 8;

const edits: Partial<Record<Action, (editor: Editor, size: Size) => Editor | null>> = {
  newline: (editor) => typed(editor, "\n"),
  left: to(before),
  right: to(behind),
  up: byRows(-1),
  down: byRows(1),
  pageUp: byRows(-pageRows),
  pageDown: byRows(pageRows),
  wordLeft: to(wordBefore),
  wordRight: to(wordBehind),
  lineStart: to(lineStart),
  lineEnd: to(lineEnd),
  inputStart: to(() => 0),
  inputEnd: to(({ text }) => text.length),
  deleteBackward: (editor) => replaced(editor, before(editor), editor.cursor),
  deleteForward,
  deleteForwardOrQuit: deleteForward,
  deleteWordBackward: (editor) => cleared(editor, wordBefore(editor), editor.cursor),
  deleteWordForward: (editor) => cleared(editor, editor.cursor, wordBehind(editor)),
  killToLineStart: (editor) => cleared(editor, lineStart(editor), editor.cursor),
  killToLineEnd: (editor) => cleared(editor, editor.cursor, lineEnd(editor)),
  clearInput: (editor) => cleared(editor, 0, editor.text.length),
  yank: (editor) => replaced(editor, editor.cursor, editor.cursor, editor.killed),
};

/**
 * Applies a key to a search query in one line; null if the key does not edit it. `action` is the key's action in the
 * keymap.
 */
export const queryAfter = (words: string, key: Key, action: Action | undefined): string | null => {
  const editor = editorOf(words);
  if (key.type !== "key") return typed(editor, key.text.replaceAll(/\s+/g, " ")).text;
  return action !== undefined && queryEdits.has(action) ? (edited(editor, action, anySize)?.text ?? null) : null;
};

const queryEdits: ReadonlySet<Action> = new Set([
  "deleteBackward",
  "deleteWordBackward",
  "killToLineStart",
  "clearInput",
]);

/** None of the allowed actions moves by rows. */
const anySize = { columns: 80, rows: 24 };
