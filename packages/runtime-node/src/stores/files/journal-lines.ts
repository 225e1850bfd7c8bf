import type { Entry } from "@colloquy/machine";

import { StorageError } from "@colloquy/host/store";

/**
 * Formats entries as lines of a journal. Each line of one append but the last ends with a space, which JSON allows. A
 * journal that ends with such a line was cut off in the middle of an append.
 */
export const linesOf = (entries: readonly Entry[]): Buffer =>
  Buffer.from(
    entries.map((entry, index) => JSON.stringify(entry) + (index === entries.length - 1 ? "\n" : " \n")).join(""),
  );

/** The position of a line in a journal, including its line break. */
export interface Line {
  readonly from: number;
  readonly until: number;
}

/**
 * Finds the completely appended lines in the end piece of a journal. Bytes after them were never acknowledged: a torn
 * line, an append without its last line, or the remains of a power cut. A partial piece starts inside a line, which is
 * left out. It has no lines if a longer piece is needed.
 */
export const wholeLines = (bytes: Buffer, isWhole: boolean): readonly Line[] => {
  const lines: Line[] = [];
  for (let from = 0; ;) {
    const lineBreak = bytes.indexOf("\n", from);
    if (lineBreak === -1) break;
    lines.push({ from, until: lineBreak + 1 });
    from = lineBreak + 1;
  }
  if (!isWhole) lines.shift();
  while (isContinued(bytes, lines.at(-1))) lines.pop();
  return lines.slice(0, untorn(bytes, lines, isWhole));
};

/**
 * Counts the lines before an append that a power cut has torn, so that some of its pages are missing or contain foreign
 * bytes. Such bytes distinguish it from a line that was damaged later, which its reader reports. So does an entry after
 * it, since an append starts only when the previous one is on the disk.
 */
const untorn = (bytes: Buffer, lines: readonly Line[], isWhole: boolean): number => {
  let kept = lines.length;
  let hasEntryBehind = false;
  while (kept > 0) {
    const first = beginOfAppend(bytes, lines, kept);
    // The start of the append must be visible.
    if (first === 0 && !isWhole) return 0;
    const append = lines.slice(first, kept);
    const before = first === 0 ? -1 : (seqIn(bytes, lines[first - 1]) ?? Number.NaN);
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

/** Checks whether an append is complete and continues the previous entry. If in doubt, all of its lines are parsed. */
const isJoined = (bytes: Buffer, append: readonly Line[], before: number, inDoubt: boolean): boolean => {
  if (seqIn(bytes, append[0]) !== before + 1 || seqIn(bytes, append.at(-1)) !== before + append.length) return false;
  if (!append.every(({ from, until }) => isText(bytes, from, until))) return false;
  return !inDoubt || append.every((line, index) => seqIn(bytes, line) === before + 1 + index);
};

/** Checks whether a file starts like a journal. Any other file was put there by other software and is left alone. */
const beginsLikeJournal = (bytes: Buffer): boolean => bytes[0] === 0 || bytes.toString("latin1", 0, 8) === '{"seq":0';

/** Checks whether the last line of an append is complete text, even if it is not an entry. */
const endsInText = (bytes: Buffer, line: Line | undefined): boolean =>
  line !== undefined && bytes[line.until - 2] === closingBrace && isText(bytes, line.from, line.until);

/** Checks that a text has no control characters. The JSON of an entry never has one. */
const isText = (bytes: Buffer, from: number, until: number): boolean => {
  for (let at = from; at < until; at += 1) {
    const byte = bytes[at];
    if (byte !== undefined && byte < space && byte !== lineFeed) return false;
  }
  return true;
};

export const seqIn = (bytes: Buffer, line: Line | undefined): number | undefined =>
  line === undefined ? undefined : entryIn(bytes, line)?.seq;

const isContinued = (bytes: Buffer, line: Line | undefined): boolean =>
  line !== undefined && bytes[line.until - 2] === space;

const lineFeed = 10;
const space = 32;
const closingBrace = 125;

/** A stored entry that is not decoded, except for its seq. */
export type StoredEntry = { readonly seq: number } & Readonly<Record<string, unknown>>;

/** Parses a line; returns undefined if it is not an entry. */
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

/** Creates the error for the first wrong line of a whole journal. */
export const firstDamage = (path: string, bytes: Buffer, lines: readonly Line[]): StorageError => {
  const index = lines.findIndex((line, seq) => entryIn(bytes, line)?.seq !== seq);
  return damaged(path, index + 1, bytes, lines[index]);
};

/** Creates the error for a wrong line. Lines are counted from 1. */
export const damaged = (path: string, number: number, bytes: Buffer, line: Line | undefined): StorageError => {
  const kind = number === 1 ? "not-a-store" : "corrupt";
  if (line !== undefined && bytes.toString("utf8", line.from, line.until).trim() === "")
    return new StorageError(kind, `files store: "${path}" is damaged, for its line ${number} is empty: remove it.`);
  const should = `its line ${number} is not the entry of seq ${number - 1}`;
  if (number === 1) {
    const advice = "move the file out of the folder, or restore it from a backup";
    return new StorageError(kind, `files store: "${path}" is not a journal, for ${should}; ${advice}.`);
  }
  const advice = "restore the file from a backup, or delete the thread";
  return new StorageError(kind, `files store: "${path}" is damaged, for ${should}; ${advice}.`);
};
