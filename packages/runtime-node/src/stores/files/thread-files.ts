import { rmSync } from "node:fs";
import { dirname, join } from "node:path";

import type { Entry } from "@colloquy/machine";

import { StorageError } from "@colloquy/host/store";
import { checkFile, checkFolder, flushFolder, partEnding, readIfThere, removeFolder, replaceFile } from "./disk.ts";
import { isShortened, nameOf } from "./file-name.ts";
import { idEnding, journalEnding } from "./journal-facts.ts";
import { endOf, withJournal } from "./journal-file.ts";
import { damaged, entryIn, linesOf, wholeLines } from "./journal-lines.ts";
import { removeSnapshot } from "./snapshot-folder.ts";

/** The paths of a thread's files. */
export interface ThreadPaths {
  readonly journal: string;
  /** A file with the thread's id; null if the names contain the id. */
  readonly id: string | null;
  readonly snapshot: string;
  readonly inbox: string;
  readonly parts: string;
}

/** Returns the paths of a thread. Throws `StorageError` for an id that cannot be a file name. */
export const pathsOf = (folder: string, threadId: string): ThreadPaths => {
  const name = nameOf(threadId);
  const path = join(folder, name);
  return {
    journal: path + journalEnding,
    id: isShortened(name) ? path + idEnding : null,
    snapshot: `${path}.snapshot`,
    inbox: `${path}.inbox`,
    parts: `${path}.parts`,
  };
};

/** Prepares a thread for its first entry. */
export const prepareThread = ({ id }: ThreadPaths, threadId: string, flush: boolean): void => {
  if (id === null) return;
  replaceFile(id, threadId, flush);
  // Without this file its journal would not be listed.
  if (flush) flushFolder(dirname(id));
};

/**
 * Replaces entries. The snapshot goes first, so that a crash in between leaves no copy of the replaced text. The
 * journal is always flushed, since the old file is gone afterwards.
 */
export const replaceEntries = (
  { journal, snapshot, parts }: ThreadPaths,
  threadId: string,
  entries: readonly Entry[],
  flush: boolean,
): void => {
  if (entries.length === 0) return;
  const bytes = readIfThere(journal) ?? Buffer.alloc(0);
  const lines = wholeLines(bytes, true);
  const pieces = lines.map(({ from, until }) => bytes.subarray(from, until));
  for (const entry of entries) {
    const line = lines[entry.seq];
    if (line === undefined) {
      throw new RangeError(
        `thread "${threadId}": there is no entry of seq ${entry.seq} to be rewritten; its newest is ${lines.length - 1}.`,
      );
    }
    if (entryIn(bytes, line)?.seq !== entry.seq) throw damaged(journal, entry.seq + 1, bytes, line);
    pieces[entry.seq] = linesOf([entry]);
  }
  removeSnapshot(snapshot, flush);
  removeFolder(parts);
  replaceFile(journal, Buffer.concat(pieces), true);
};

/**
 * Removes all files of a thread, the journal last. Returns true if it had entries. If one of the files is a link, whose
 * target would remain, it throws a `StorageError` and removes nothing.
 */
export const deleteThread = ({ journal, id, snapshot, inbox, parts }: ThreadPaths, flush: boolean): boolean => {
  for (const file of id === null ? [journal] : [journal, id]) checkFile(file);
  for (const folder of [snapshot, inbox, parts]) checkFolder(folder);
  const existed = hasEntries(journal);
  removeSnapshot(snapshot, flush);
  removeFolder(inbox);
  removeFolder(parts);
  for (const file of [journal + partEnding, journal]) rmSync(file, { force: true });
  if (id === null) return existed;
  // Without its id file a journal would not be listed.
  if (flush) flushFolder(dirname(journal));
  for (const file of [id + partEnding, id]) rmSync(file, { force: true });
  return existed;
};

/** Checks for entries. A damaged journal counts as one with entries. */
const hasEntries = (journal: string): boolean => {
  try {
    return withJournal(journal, (file) => endOf(file, journal).seq >= 0) ?? false;
  } catch (error) {
    if (error instanceof StorageError) return true;
    throw error;
  }
};
