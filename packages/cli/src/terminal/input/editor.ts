import { typeable } from "./key-reader.ts";

/** The typed text, as a value. The cursor is between two characters; a mark counts as one. */
export interface Editor extends MarkedText {
  readonly cursor: number;
  readonly killed: MarkedText;
  /** The column in which a series of up and down began; they keep it. */
  readonly column: number | null;
}

const nothing: MarkedText = { text: "", marks: [] };

export const emptyEditor: Editor = { ...nothing, cursor: 0, killed: nothing, column: null };

/** Makes an editor with a text, without control characters. */
export const editorOf = (text: string): Editor => typed(emptyEditor, typeable(text));

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

/** A text that contains marks for long pastes: `[paste #1: 5,000 characters]`. */
interface MarkedText {
  readonly text: string;
  readonly marks: readonly PasteMark[];
}

/** The range of a mark, in UTF-16 units, and the pasted text. */
interface PasteMark {
  readonly start: number;
  readonly end: number;
  readonly number: number;
  readonly pasted: string;
}

/** Returns the text to send, with pastes in full. */
export const expanded = ({ text, marks }: MarkedText): string =>
  marks.reduceRight((whole, { start, end, pasted }) => whole.slice(0, start) + pasted + whole.slice(end), text);

/**
 * Returns the range of the character (a grapheme, or a mark) that contains a place or begins there. Empty at the end of
 * the text.
 */
export const graphemeAt = (text: MarkedText, at: number): { readonly start: number; readonly end: number } => {
  const run = runAt(text, at);
  if (run.isMark) return run;
  const found = graphemes.segment(text.text.slice(run.start, run.end)).containing(at - run.start);
  if (found === undefined) return { start: at, end: at };
  return { start: run.start + found.index, end: run.start + found.index + found.segment.length };
};

/** Returns the start of the word that contains a place or ends before it. */
export const wordStart = (text: MarkedText, at: number): number => {
  if (at === 0) return 0;
  const run = runAt(text, at - 1);
  if (run.isMark) return run.start;
  const word = wordsOf(text, run).findLast(({ start }) => start < at);
  return word === undefined ? run.start : graphemeAt(text, word.start).start;
};

/** Returns the end of the word that contains a place or begins after it. */
export const wordEnd = (text: MarkedText, at: number): number => {
  const run = runAt(text, at);
  if (run.isMark) return run.end;
  const word = wordsOf(text, run).find(({ end }) => end > at);
  if (word === undefined) return run.end;
  const last = graphemeAt(text, word.end - 1);
  return last.end;
};

interface Run {
  readonly start: number;
  readonly end: number;
  readonly isMark: boolean;
}

/** Returns the mark that contains a place, or the text between two marks. */
const runAt = ({ text, marks }: MarkedText, at: number): Run => {
  const mark = marks.find(({ start, end }) => start <= at && at < end);
  if (mark !== undefined) return { start: mark.start, end: mark.end, isMark: true };
  const start = marks.findLast(({ end }) => end <= at)?.end ?? 0;
  const end = marks.find((each) => each.start > at)?.start ?? text.length;
  return { start, end, isMark: false };
};

/**
 * Splits a run into words. Joiners are replaced, because a joiner after a letter would put the letter and a following
 * emoji into one segment, which is not a word.
 */
const wordsOf = ({ text }: MarkedText, run: Run): readonly { readonly start: number; readonly end: number }[] =>
  Array.from(words.segment(text.slice(run.start, run.end).replaceAll("\u200D", "\u200C")))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ index, segment }) => ({ start: run.start + index, end: run.start + index + segment.length }));

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
const words = new Intl.Segmenter("und", { granularity: "word" });
