import type { Action } from "../../../src/terminal/input/action.ts";
import { type Editor, emptyEditor, pasted, typed } from "../../../src/terminal/input/editor.ts";
import { edited } from "../../../src/terminal/input/edits.ts";
import type { InputFrame } from "../../../src/terminal/input/layout.ts";
import type { Size } from "../../../src/terminal/text/line.ts";

/** A step at the keyboard: text, a paste, or an action. */
export type Step = { readonly text: string } | { readonly paste: string } | { readonly action: Action };

export const wide: Size = { columns: 80, rows: 24 };

export const stepTaken = (editor: Editor, step: Step, size: Size = wide): Editor => {
  if ("text" in step) return typed(editor, step.text);
  if ("paste" in step) return pasted(editor, step.paste);
  return edited(editor, step.action, size) ?? editor;
};

/** Texts are typed; `<left>` is an action. */
export const after = (script: string, editor: Editor = emptyEditor, size: Size = wide): Editor =>
  script
    .split(/(<[A-Za-z]+>)/)
    .filter((piece) => piece !== "")
    .reduce((state, piece) => stepTaken(state, stepOf(piece), size), editor);

// The names are those of actions: a wrong one changes nothing, and the test sees it.
const stepOf = (piece: string): Step =>
  /^<[A-Za-z]+>$/.test(piece) ? { action: piece.slice(1, -1) as Action } : { text: piece };

/** The text with `|` where the cursor is. */
export const withCursor = ({ text, cursor }: Editor): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

export const textOf = ({ lines }: InputFrame): readonly string[] =>
  lines.map((line) => line.map(({ text }) => text).join(""));
