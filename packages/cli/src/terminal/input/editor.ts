import { typeable } from "./key-reader.ts";
import { graphemeAt, type MarkedText, type PasteMark } from "./marked-text.ts";

/** The typed text, as a value. The cursor is between two characters; a mark counts as one. */
export interface Editor extends MarkedText {
  readonly cursor: number;
  /** The text that was cleared last. */
  readonly killed: MarkedText;
  /** The column in which a series of up and down began; they keep it. */
  readonly column: number | null;
}

const nothing: MarkedText = { text: "", marks: [] };

export const emptyEditor: Editor = { ...nothing, cursor: 0, killed: nothing, column: null };

/** Makes an editor with a text, without control characters. */
export const editorOf = (text: string): Editor => typed(emptyEditor, typeable(text));

/** Inserts a text at the cursor. */
export const typed = (editor: Editor, text: string): Editor =>
  replaced(editor, editor.cursor, editor.cursor, { text, marks: [] });

/** Inserts a paste at the cursor; a long one becomes a mark. */
export const pasted = (editor: Editor, text: string): Editor => {
  if (text.length <= lengthMax && text.split("\n").length <= linesMax) return typed(editor, text);
  const number = 1 + Math.max(0, ...[...editor.marks, ...editor.killed.marks].map((mark) => mark.number));
  const shown = `[paste #${number}: ${Array.from(text).length.toLocaleString("en")} characters]`;
  const marks = [{ start: 0, end: shown.length, number, pasted: text }];
  return replaced(editor, editor.cursor, editor.cursor, { text: shown, marks });
};

const lengthMax = 1000;
const linesMax = 10;

/** Replaces a range. All changes of the text use it. */
export const replaced = (editor: Editor, from: number, to: number, put: MarkedText = nothing): Editor => {
  const ends = from + put.text.length;
  const text = editor.text.slice(0, from) + put.text + editor.text.slice(to);
  const marks = [
    ...editor.marks.filter(({ end }) => end <= from),
    ...put.marks.map(shifted(from)),
    ...editor.marks.filter(({ start }) => start >= to).map(shifted(ends - to)),
  ];
  // The inserted text may form one character with the text after it.
  const { start, end } = graphemeAt({ text, marks }, ends);
  return { ...editor, text, marks, cursor: start === ends ? start : end, column: null };
};

/** Deletes a range that can be brought back. */
export const cleared = (editor: Editor, from: number, to: number): Editor =>
  from === to ? editor : { ...replaced(editor, from, to), killed: cutOut(editor, from, to) };

const cutOut = ({ text, marks }: MarkedText, from: number, to: number): MarkedText => ({
  text: text.slice(from, to),
  marks: marks.filter(({ start, end }) => start >= from && end <= to).map(shifted(-from)),
});

const shifted =
  (by: number) =>
  (mark: PasteMark): PasteMark => ({ ...mark, start: mark.start + by, end: mark.end + by });
