import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, rmSync } from "node:fs";

import { SequenceConflictError } from "@colloquy/host/store";

import { bytesBetween, ifThere, lookAt, openFile, replaceFile, writeAll } from "./disk.ts";
import { damaged, entryIn, firstDamage, type Line, type StoredEntry, wholeLines } from "./journal-lines.ts";

/** Where a journal ends: after so many bytes, with the entry of this seq; 0 and -1 for one that is empty. */
export interface JournalEnd {
  readonly length: number;
  readonly seq: number;
}

/** The entries from a seq on, read from the end of the file backwards, no further than need be. Null when there is no file. */
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

/** Calls with the file of a journal open for reading; null when there is none. */
export const withJournal = <A>(path: string, use: (file: number) => A): A | null => {
  const file = ifThere(() => openFile(path, "read"));
  if (file === null) return null;
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
};

/** Where a journal ends, by its last line. */
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

/** Throws `SequenceConflictError` for a journal that ends elsewhere. */
export const refuseOtherEnd = (path: string, threadId: string, expectedSeq: number): void => {
  const seq = withJournal(path, (file) => endOf(file, path).seq) ?? -1;
  if (seq !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, seq);
};

/** Something to be appended. */
export interface Addition {
  readonly threadId: string;
  readonly expectedSeq: number;
  readonly lines: Buffer;
  /** The seq of its last entry. */
  readonly newestSeq: number;
  /** What has to be done before a journal begins. */
  readonly begin: () => void;
}

/** What was written. To be closed. */
export interface Appended {
  readonly end: JournalEnd;
  /** True when its folder has to be flushed too: the file is new, or was made by a process that may not have flushed the folder. */
  readonly isNew: boolean;
  flush(): void;
  /** Takes back what was written, unless another process wrote after it. Under the lock. */
  undo(): void;
  close(): void;
}

/**
 * Adds to a journal, and cuts off what was torn before. `known` is where it was seen to end, which saves a look
 * when the file still has that length. Under the lock. Throws, and then nothing was written.
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
    // Not flushed, what is cut off could come back in the midst of what takes its place.
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

/** A new journal is there with its first entries, or not at all: a file of which nothing is known is never taken for one. */
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

/** Pieces that end a journal, each reaching further back, the last of them the whole. */
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
