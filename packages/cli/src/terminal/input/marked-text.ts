/** A text that contains marks for long pastes: `[paste #1: 5,000 characters]`. */
export interface MarkedText {
  readonly text: string;
  /** In order. */
  readonly marks: readonly PasteMark[];
}

/** The range of a mark, in UTF-16 units, and the pasted text. */
export interface PasteMark {
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
