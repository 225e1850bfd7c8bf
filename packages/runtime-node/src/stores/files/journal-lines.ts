import type { Entry } from "@colloquy/machine";

import { StorageError } from "@colloquy/host/store";

/**
 * Entries as the lines of a journal. Those that were appended together belong together: each but the last ends with
 * a space, which JSON allows. A journal that ends with such a line was cut off in the middle of an append.
 */
export const linesOf = (entries: readonly Entry[]): Buffer =>
  Buffer.from(
    entries.map((entry, index) => JSON.stringify(entry) + (index === entries.length - 1 ? "\n" : " \n")).join(""),
  );

/** A line of a journal: where it begins and where it ends, its line break included. */
export interface Line {
  readonly from: number;
  readonly until: number;
}

/**
 * The lines that were appended whole, in the piece that ends a journal. What stands after them was never
 * acknowledged: a torn line, an append of several lines without its last, what a power cut left of one. A piece that is
 * not the whole journal begins somewhere in a line, which is left out; it has no lines where more has to be read.
 */
export const wholeLines = (bytes: Buffer, isWhole: boolean): readonly Line[] => {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  const lines: Line[] = [];
  for (let from = 0; from < end;) {
    const lineBreak = bytes.indexOf("\n", from);
    if (lineBreak === -1) break;
    if (isWhole || from > 0) lines.push({ from, until: lineBreak + 1 });
    from = lineBreak + 1;
  }
  while (isContinued(bytes, lines.at(-1))) lines.pop();
  return lines.slice(0, untorn(bytes, lines, isWhole));
};

/**
 * How many lines stand before an append that a power cut has torn: pages of it are there and others are not, or hold
 * what was never written. Such bytes distinguish it from a line that was damaged later, which is for its reader to report; and
 * so does what stands behind it, for nothing is appended before the last append is on the disk.
 */
const untorn = (bytes: Buffer, lines: readonly Line[], isWhole: boolean): number => {
  let kept = lines.length;
  let hasEntryBehind = false;
  while (kept > 0) {
    const first = beginOfAppend(bytes, lines, kept);
    // Where it begins has to be seen.
    if (first === 0 && !isWhole) return 0;
    const append = lines.slice(first, kept);
    const before = first === 0 ? -1 : seqIn(bytes, lines[first - 1]);
    if (isJoined(bytes, append, before, kept < lines.length)) break;
    if (hasEntryBehind && endsInText(bytes, lines[kept - 1])) return lines.length;
    hasEntryBehind ||= append.some((line) => entryIn(bytes, line) !== undefined);
    kept = first;
  }
  if (kept === 0 && !beginsLikeJournal(bytes)) return lines.length;
  const from = lines[kept]?.from ?? bytes.length;
  return isText(bytes, from, lines.at(-1)?.until ?? from) ? lines.length : kept;
};

const beginOfAppend = (bytes: Buffer, lines: readonly Line[], end: number): number => {
  let first = end - 1;
  while (first > 0 && isContinued(bytes, lines[first - 1])) first -= 1;
  return first;
};

/** Whether an append is whole and continues what stands before it. All of its lines are read where there is a doubt. */
const isJoined = (bytes: Buffer, append: readonly Line[], before: number | undefined, inDoubt: boolean): boolean => {
  const [begin, end] = [append[0], append.at(-1)];
  if (begin === undefined || end === undefined || before === undefined) return false;
  if (seqIn(bytes, begin) !== before + 1 || seqIn(bytes, end) !== before + append.length) return false;
  if (!isText(bytes, begin.from, end.until)) return false;
  return !inDoubt || append.every((line, index) => seqIn(bytes, line) === before + 1 + index);
};

/** Whether a file begins as a journal does. A file that does not was put there by other software, and is left alone. */
const beginsLikeJournal = (bytes: Buffer): boolean => bytes[0] === 0 || bytes.toString("latin1", 0, 8) === '{"seq":0';

/** The last line of an append whose words are all there, whatever they are. */
const endsInText = (bytes: Buffer, line: Line | undefined): boolean =>
  line !== undefined && bytes[line.until - 2] === closingBrace && isText(bytes, line.from, line.until);

/** No entry has a control character in its JSON. */
const isText = (bytes: Buffer, from: number, until: number): boolean => {
  for (let at = from; at < until; at += 1) {
    const byte = bytes[at];
    if (byte !== undefined && byte < space && byte !== lineFeed) return false;
  }
  return true;
};

const seqIn = (bytes: Buffer, line: Line | undefined): number | undefined =>
  line === undefined ? undefined : entryIn(bytes, line)?.seq;

const isContinued = (bytes: Buffer, line: Line | undefined): boolean =>
  line !== undefined && bytes[line.until - 2] === space;

const lineFeed = 10;
const space = 32;
const closingBrace = 125;

/** An entry as it was stored, not yet decoded, but for its seq. */
export type StoredEntry = { readonly seq: number } & Readonly<Record<string, unknown>>;

/** What a line holds; undefined when it holds no entry. */
export const entryIn = (bytes: Buffer, { from, until }: Line): StoredEntry | undefined => {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8", from, until));
    return isStoredEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isStoredEntry = (value: unknown): value is StoredEntry =>
  typeof value === "object" && value !== null && "seq" in value && Number.isSafeInteger(value.seq);

/** For the first line of a whole journal that does not hold what it should. */
export const firstDamage = (path: string, bytes: Buffer, lines: readonly Line[]): StorageError => {
  const index = lines.findIndex((line, seq) => entryIn(bytes, line)?.seq !== seq);
  return damaged(path, index + 1, bytes, lines[index]);
};

/** For a line that does not hold what it should. Lines are counted from 1. */
export const damaged = (path: string, number: number, bytes: Buffer, line: Line | undefined): StorageError => {
  const kind = number === 1 ? "not-a-store" : "corrupt";
  if (line !== undefined && bytes.toString("utf8", line.from, line.until).trim() === "")
    return new StorageError(kind, `files store: "${path}" is damaged, for its line ${number} is empty: remove it.`);
  const should = `its line ${number} is not the entry of seq ${number - 1}`;
  if (number === 1) {
    const advice = "move the file out of the folder, or restore it from a backup";
    return new StorageError(kind, `files store: "${path}" is no journal, for ${should}; ${advice}.`);
  }
  const advice = "restore the file from a backup, or delete the thread";
  return new StorageError(kind, `files store: "${path}" is damaged, for ${should}; ${advice}.`);
};
