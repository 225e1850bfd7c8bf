import type { Action } from "../../../src/terminal/input/keymap.ts";
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

/** Runs a script: types its texts, and performs actions such as `<left>`. */
export const after = (script: string, editor: Editor = emptyEditor, size: Size = wide): Editor =>
  script
    .split(/(<[A-Za-z]+>)/)
    .filter((piece) => piece !== "")
    .reduce((state, piece) => stepTaken(state, stepOf(piece), size), editor);

// Cast: the names are actions'. A wrong one changes nothing, which the test notices.
const stepOf = (piece: string): Step =>
  /^<[A-Za-z]+>$/.test(piece) ? { action: piece.slice(1, -1) as Action } : { text: piece };

/** Returns the text with `|` at the cursor. */
export const withCursor = ({ text, cursor }: Editor): string => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

export const textOf = ({ lines }: InputFrame): readonly string[] =>
  lines.map((line) => line.map(({ text }) => text).join(""));
