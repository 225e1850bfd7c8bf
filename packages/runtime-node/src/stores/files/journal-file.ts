import { noSuchEntry, SequenceConflictError, StorageError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { bytesBetween, ifThere, readIfThere, removeFile, replaceFile, writeAll } from "./disk.ts";
import {
  damaged,
  entryIn,
  firstDamage,
  type Line,
  linesOf,
  seqIn,
  type StoredEntry,
  wholeLines,
} from "./journal-lines.ts";
import { fs } from "../../ports/system.ts";

/** The end of a journal: its length in bytes and its last seq; 0 and -1 if it is empty or does not exist. */
export interface JournalEnd {
  readonly length: number;
  readonly seq: number;
}

/** Reads the entries from a seq on. Starts at the end of the file and goes back only as far as necessary. */
export const readJournal = (path: string, fromSeq: number): readonly StoredEntry[] =>
  withJournal(path, (file) => {
    for (const { bytes, start } of piecesOf(file, fromSeq <= 0 ? Infinity : firstPieceLength)) {
      const lines = wholeLines(bytes, start === 0);
      const firstSeq = start === 0 ? 0 : seqIn(bytes, lines[0]);
      if (firstSeq !== undefined && (start === 0 || firstSeq <= fromSeq))
        return entriesIn(bytes, lines, firstSeq, fromSeq, path);
    }
    return null;
  }) ?? [];

/** Checks whether a journal has entries. A damaged journal counts as one with entries. */
export const hasEntries = (path: string): boolean => {
  try {
    return endOf(path).seq >= 0;
  } catch (error) {
    if (error instanceof StorageError) return true;
    throw error;
  }
};

/** Throws `SequenceConflictError` if a journal ends at another seq. */
export const refuseOtherEnd = (
  path: string,
  threadId: string,
  expectedSeq: number,
  { seq }: JournalEnd = endOf(path),
): void => {
  if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);
};

/** A finished append. Call `close` after use. */
export interface Appended {
  readonly end: JournalEnd;
  flush(): void;
  /** Removes the append, unless another process wrote after it. Requires the lock. */
  undo(): void;
  close(): void;
}

/**
 * Appends entries to a journal that has some, and cuts off a torn end. `known` is its last known end, which saves a
 * read if the file still has that length. Requires the lock. If it throws, nothing was written.
 */
export const appendToJournal = (
  path: string,
  { threadId, expectedSeq, count, lines }: Addition,
  known: JournalEnd | undefined,
  flush: boolean,
): Appended => {
  const file = ifThere(() => fs.openSync(path, "r+"));
  if (file === null) throw new SequenceConflictError(threadId, expectedSeq, -1);
  try {
    const { size } = fs.fstatSync(file);
    const before = known?.length === size ? known : endIn(file, path);
    refuseOtherEnd(path, threadId, expectedSeq, before);
    if (size > before.length) fs.ftruncateSync(file, before.length);
    // Without this flush, the old bytes could reappear in the middle of the new ones after a power cut.
    if (flush && size > before.length) fs.fdatasyncSync(file);
    try {
      writeAll(file, lines, before.length);
    } catch (error) {
      fs.ftruncateSync(file, before.length);
      throw error;
    }
    const length = before.length + lines.length;
    return {
      end: { length, seq: expectedSeq + count },
      flush: () => fs.fdatasyncSync(file),
      undo: () => {
        if (fs.fstatSync(file).size === length) fs.ftruncateSync(file, before.length);
      },
      close: () => fs.closeSync(file),
    };
  } catch (error) {
    fs.closeSync(file);
    throw error;
  }
};

export interface Addition {
  readonly threadId: string;
  readonly expectedSeq: number;
  readonly count: number;
  readonly lines: Buffer;
}

/**
 * Creates a journal with its first entries, or not at all, as a torn file is not one. Requires the lock, and that the
 * journal has no entries.
 */
export const beginJournal = (path: string, { count, lines }: Addition, flush: boolean): JournalEnd => {
  try {
    replaceFile(path, lines, flush);
  } catch (error) {
    // It may be there, and its folder not be flushed.
    removeFile(path, false);
    throw error;
  }
  return { length: lines.length, seq: count - 1 };
};

/** Returns the bytes of a journal in which these entries have taken the places of those of the same seq. */
export const rewrittenJournal = (path: string, threadId: string, entries: readonly Entry[]): Buffer => {
  const bytes = readIfThere(path) ?? Buffer.alloc(0);
  const lines = wholeLines(bytes, true);
  const pieces = lines.map(({ from, until }) => bytes.subarray(from, until));
  for (const entry of entries) {
    const line = lines[entry.seq];
    if (line === undefined) throw noSuchEntry(threadId, entry.seq);
    if (entryIn(bytes, line)?.seq !== entry.seq) throw damaged(path, entry.seq + 1, bytes, line);
    pieces[entry.seq] = linesOf([entry]);
  }
  return Buffer.concat(pieces);
};

const endOf = (path: string): JournalEnd => withJournal(path, (file) => endIn(file, path)) ?? { length: 0, seq: -1 };

/** Finds the end of a journal by its last line. */
const endIn = (file: number, path: string): JournalEnd => {
  for (const { bytes, start } of piecesOf(file, firstPieceLength)) {
    const last = wholeLines(bytes, start === 0).at(-1);
    if (last === undefined) continue;
    const seq = seqIn(bytes, last);
    if (seq === undefined) {
      const before = bytesBetween(file, 0, start + last.until);
      throw firstDamage(path, before, wholeLines(before, true));
    }
    return { length: start + last.until, seq };
  }
  return { length: 0, seq: -1 };
};

/** Runs `use` with a journal's file open for reading; returns null if the file does not exist. */
const withJournal = <A>(path: string, use: (file: number) => A): A | null => {
  const file = ifThere(() => fs.openSync(path, "r"));
  if (file === null) return null;
  try {
    return use(file);
  } finally {
    fs.closeSync(file);
  }
};

/** Yields ends of a journal, each longer than the last, until the whole file. */
function* piecesOf(file: number, firstLength: number): Generator<{ readonly bytes: Buffer; readonly start: number }> {
  const { size } = fs.fstatSync(file);
  for (let length = firstLength; ; length *= 8) {
    const start = Math.max(size - length, 0);
    yield { start, bytes: bytesBetween(file, start, size) };
    if (start === 0) return;
  }
}

const firstPieceLength = 2 ** 16;

const entriesIn = (
  bytes: Buffer,
  lines: readonly Line[],
  firstSeq: number,
  fromSeq: number,
  path: string,
): readonly StoredEntry[] => {
  const skipped = Math.max(fromSeq - firstSeq, 0);
  return lines.slice(skipped).map((line, index) => {
    const seq = firstSeq + skipped + index;
    const entry = entryIn(bytes, line);
    if (entry?.seq !== seq) throw damaged(path, seq + 1, bytes, line);
    return entry;
  });
};
