import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, rmSync } from "node:fs";

import { SequenceConflictError } from "@colloquy/host/store";

import { bytesBetween, ifThere, lookAt, openFile, replaceFile, writeAll } from "./disk.ts";
import { damaged, entryIn, firstDamage, type Line, type StoredEntry, wholeLines } from "./journal-lines.ts";

/** The end of a journal: its length in bytes and its last seq; 0 and -1 if it is empty. */
export interface JournalEnd {
  readonly length: number;
  readonly seq: number;
}

/**
 * Reads the entries from a seq on. Starts at the end of the file and goes back only as far as necessary. Returns null
 * if the file does not exist.
 */
export const readJournal = (path: string, fromSeq: number): readonly StoredEntry[] | null =>
  withJournal(path, (file) => {
    for (const { bytes, start } of piecesOf(file, fromSeq <= 0 ? Infinity : firstPieceLength)) {
      const lines = wholeLines(bytes, start === 0);
      const firstSeq = start === 0 ? 0 : seqOf(bytes, lines[0]);
      if (firstSeq !== undefined && (start === 0 || firstSeq <= fromSeq))
        return entriesIn(bytes, lines, firstSeq, fromSeq, path);
    }
    return [];
  });

/** Runs `use` with a journal's file open for reading; returns null if the file does not exist. */
export const withJournal = <A>(path: string, use: (file: number) => A): A | null => {
  const file = ifThere(() => openFile(path, "read"));
  if (file === null) return null;
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
};

/** Finds the end of a journal by its last line. */
export const endOf = (file: number, path: string): JournalEnd => {
  for (const { bytes, start } of piecesOf(file, firstPieceLength)) {
    const last = wholeLines(bytes, start === 0).at(-1);
    if (last === undefined) continue;
    const seq = seqOf(bytes, last);
    if (seq === undefined) {
      const before = bytesBetween(file, 0, start + last.until);
      throw firstDamage(path, before, wholeLines(before, true));
    }
    return { length: start + last.until, seq };
  }
  return { length: 0, seq: -1 };
};

/** Throws `SequenceConflictError` if a journal ends at another seq. */
export const refuseOtherEnd = (path: string, threadId: string, expectedSeq: number): void => {
  const seq = withJournal(path, (file) => endOf(file, path).seq) ?? -1;
  if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);
};

/** An append. */
export interface Addition {
  readonly threadId: string;
  readonly expectedSeq: number;
  readonly lines: Buffer;
  /** The seq of the last entry. */
  readonly newestSeq: number;
  /** Runs before a new journal is created. */
  readonly begin: () => void;
}

/** A finished append. Call `close` after use. */
export interface Appended {
  readonly end: JournalEnd;
  /**
   * Whether the folder must be flushed too. That is so if the file is new, or another process created it and may not
   * have flushed.
   */
  readonly isNew: boolean;
  flush(): void;
  /** Removes the append, unless another process wrote after it. Requires the lock. */
  undo(): void;
  close(): void;
}

/**
 * Appends to a journal, and cuts off a torn end. `known` is its last known end, which saves a read if the file still
 * has that length. Requires the lock. If it throws, nothing was written.
 */
export const appendToJournal = (
  path: string,
  addition: Addition,
  known: JournalEnd | undefined,
  flush: boolean,
): Appended => {
  const { threadId, expectedSeq, lines, newestSeq } = addition;
  if (expectedSeq === -1) return beginJournal(path, addition, flush);
  const file = ifThere(() => openFile(path, "write"));
  if (file === null) throw new SequenceConflictError(threadId, expectedSeq, -1);
  try {
    const { size } = fstatSync(file);
    const end = known?.length === size ? known : endOf(file, path);
    if (end.seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, end.seq);
    if (size > end.length) ftruncateSync(file, end.length);
    // Without this flush, the old bytes could reappear in the middle of the new ones after a power cut.
    if (flush && size > end.length) fdatasyncSync(file);
    try {
      writeAll(file, lines, end.length);
    } catch (error) {
      ftruncateSync(file, end.length);
      throw error;
    }
    const length = end.length + lines.length;
    return {
      end: { length, seq: newestSeq },
      isNew: known === undefined,
      flush: () => fdatasyncSync(file),
      undo: () => {
        if (fstatSync(file).size === length) ftruncateSync(file, end.length);
      },
      close: () => closeSync(file),
    };
  } catch (error) {
    closeSync(file);
    throw error;
  }
};

/** Creates a journal with its first entries, or not at all, so that no empty file is mistaken for a journal. */
const beginJournal = (path: string, { threadId, lines, newestSeq, begin }: Addition, flush: boolean): Appended => {
  refuseOtherEnd(path, threadId, -1);
  begin();
  replaceFile(path, lines, flush);
  return {
    end: { length: lines.length, seq: newestSeq },
    isNew: true,
    flush: () => {},
    undo: () => {
      if (lookAt(path)?.size === lines.length) rmSync(path);
    },
    close: () => {},
  };
};

/** Yields ends of a journal, each longer than the last, until the whole file. */
function* piecesOf(file: number, firstLength: number): Generator<{ readonly bytes: Buffer; readonly start: number }> {
  const { size } = fstatSync(file);
  for (let length = firstLength; ; length *= 8) {
    const start = Math.max(size - length, 0);
    yield { start, bytes: bytesBetween(file, start, size) };
    if (start === 0) return;
  }
}

const firstPieceLength = 2 ** 16;

const seqOf = (bytes: Buffer, line: Line | undefined): number | undefined =>
  line === undefined ? undefined : entryIn(bytes, line)?.seq;

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
