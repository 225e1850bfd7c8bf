import type { Size } from "../text/line.ts";
import type { Action } from "./action.ts";
import { cleared, type Editor, replaced, typed } from "./editor.ts";
import { placeBeside } from "./layout.ts";
import { graphemeAt, wordEnd, wordStart } from "./marked-text.ts";

/** What an action makes of the input; null where it is none of the editor's, or has no row to move to. */
export const edited = (editor: Editor, action: Action, size: Size): Editor | null => {
  const { cursor, text, killed } = editor;
  switch (action) {
    case "newline":
      return typed(editor, "\n");
    case "left":
      return movedTo(editor, before(editor));
    case "right":
      return movedTo(editor, behind(editor));
    case "up":
      return movedByRows(editor, -1, size);
    case "down":
      return movedByRows(editor, 1, size);
    case "pageUp":
      return movedByRows(editor, -pageRows, size);
    case "pageDown":
      return movedByRows(editor, pageRows, size);
    case "wordLeft":
      return movedTo(editor, wordStart(editor, cursor));
    case "wordRight":
      return movedTo(editor, wordEnd(editor, cursor));
    case "lineStart":
      return movedTo(editor, lineStart(editor));
    case "lineEnd":
      return movedTo(editor, lineEnd(editor));
    case "inputStart":
      return movedTo(editor, 0);
    case "inputEnd":
      return movedTo(editor, text.length);
    case "deleteBackward":
      return replaced(editor, before(editor), cursor);
    case "deleteForward":
    case "deleteForwardOrQuit":
      return replaced(editor, cursor, behind(editor));
    case "deleteWordBackward":
      return cleared(editor, wordStart(editor, cursor), cursor);
    case "deleteWordForward":
      return cleared(editor, cursor, wordEnd(editor, cursor));
    case "killToLineStart":
      return cleared(editor, lineStart(editor), cursor);
    case "killToLineEnd":
      return cleared(editor, cursor, lineEnd(editor));
    case "clearInput":
      return cleared(editor, 0, text.length);
    case "yank":
      return replaced(editor, cursor, cursor, killed);
    default:
      return null;
  }
};

const pageRows = 8;

const before = (editor: Editor): number => (editor.cursor === 0 ? 0 : graphemeAt(editor, editor.cursor - 1).start);
const behind = (editor: Editor): number => graphemeAt(editor, editor.cursor).end;
const lineStart = ({ text, cursor }: Editor): number => text.slice(0, cursor).lastIndexOf("\n") + 1;
const lineEnd = ({ text, cursor }: Editor): number => {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
};

const movedTo = (editor: Editor, cursor: number): Editor => ({ ...editor, cursor, column: null });

const movedByRows = (editor: Editor, by: number, size: Size): Editor | null => {
  const place = placeBeside(editor, by, size);
  return place === null ? null : { ...editor, ...place };
};
