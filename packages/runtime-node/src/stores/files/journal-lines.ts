import type { Entry } from "@colloquy/machine";

import { StorageError } from "../storage-error.ts";

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
 * acknowledged: a torn line, an append of several lines without its last, the zeros that a power cut can leave. A
 * piece that is not the whole journal begins somewhere in a line, which is left out.
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
  return lines;
};

const isContinued = (bytes: Buffer, line: Line | undefined): boolean =>
  line !== undefined && bytes[line.until - 2] === space;

const space = 32;

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
