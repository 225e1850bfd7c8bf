import { lstatSync } from "node:fs";
import { join } from "node:path";

import { factsOf, StorageError } from "@colloquy/host/store";
import type { StoredThread } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { namesIn, readIfThere } from "./disk.ts";
import { idOf, isShortened, nameOf } from "./file-name.ts";
import { entryIn, firstDamage, type Line, type StoredEntry, wholeLines } from "./journal-lines.ts";

/**
 * Returns a function that lists a folder's threads from their journals. It remembers the facts of a file until the file
 * changes.
 *
 * The function throws a `StorageError` for a damaged journal, or one that is not a file. If the caller `isSure` that no
 * process is writing, such a thread is listed with its readable facts instead. Then only a reader of that thread gets
 * the error.
 */
export const journalFacts = (folder: string): ((isSure: boolean) => readonly StoredThread[]) => {
  const known = new Map<string, Known>();
  return (isSure) => {
    const files = new Set(namesIn(folder).filter((file) => file.endsWith(journalEnding)));
    for (const file of files) {
      const facts = factsAt(folder, file, known.get(file), isSure);
      if (facts === null) files.delete(file);
      else known.set(file, facts);
    }
    for (const file of known.keys()) if (!files.has(file)) known.delete(file);
    return [...known.values()].flatMap(({ thread }) => (thread === null ? [] : [thread]));
  };
};

/** The ending of a journal's name. */
export const journalEnding = ".jsonl";

/** The ending of a file that contains the id of a thread with a shortened name. */
export const idEnding = ".id";

interface Known {
  /** Identifies the version of the file that was read. */
  readonly version: string;
  /** Null for an empty journal. */
  readonly thread: StoredThread | null;
}

/** Returns the facts of a file; null if it is not a thread's journal or is gone. */
const factsAt = (folder: string, file: string, known: Known | undefined, isSure: boolean): Known | null => {
  const path = join(folder, file);
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const name = file.slice(0, -journalEnding.length);
  if (stat === undefined || (!isShortened(name) && idOf(name) === null)) return null;
  const version = `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
  if (known?.version === version) return known;
  try {
    const bytes = readIfThere(path);
    if (bytes === null) return null;
    const threadId = threadIdOf(folder, name, bytes);
    return threadId === null ? null : { version, thread: threadIn(threadId, bytes, path) };
  } catch (error) {
    if (!isSure || !(error instanceof StorageError)) throw error;
    const thread = damagedThread(folder, name);
    return thread === null ? null : { version, thread };
  }
};

/**
 * Returns the id of a thread. A long id is in its own file; if that is damaged or missing, it is read from the first
 * entry. Returns null if neither has it.
 */
const threadIdOf = (folder: string, name: string, bytes: Buffer): string | null => {
  if (!isShortened(name)) return idOf(name);
  const isIts = (id: unknown): id is string => typeof id === "string" && id.isWellFormed() && nameOf(id) === name;
  const kept = unlessDamaged(() => readIfThere(join(folder, name + idEnding)))?.toString();
  if (isIts(kept)) return kept;
  const event = storedIn(bytes, wholeLines(bytes, true).slice(0, 1))[0]?.["event"];
  return typeof event === "object" && event !== null && "threadId" in event && isIts(event.threadId)
    ? event.threadId
    : null;
};

/** Returns the readable facts of a thread, at least its id. */
const damagedThread = (folder: string, name: string): StoredThread | null => {
  const bytes = unlessDamaged(() => readIfThere(join(folder, name + journalEnding))) ?? Buffer.alloc(0);
  const threadId = threadIdOf(folder, name, bytes);
  if (threadId === null) return null;
  const entries = storedIn(bytes, wholeLines(bytes, true));
  return { threadId, seq: entries.at(-1)?.seq ?? -1, ...factsIn(entries) };
};

const unlessDamaged = <A>(read: () => A): A | null => {
  try {
    return read();
  } catch (error) {
    if (error instanceof StorageError) return null;
    throw error;
  }
};

const threadIn = (threadId: string, bytes: Buffer, path: string): StoredThread | null => {
  const lines = wholeLines(bytes, true);
  const first = lines[0];
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return null;
  const begin = entryIn(bytes, first);
  const end = entryIn(bytes, last);
  if (begin?.seq !== 0 || end?.seq !== lines.length - 1) throw firstDamage(path, bytes, lines);
  return { threadId, seq: end.seq, ...factsIn([begin, ...metadataChange(bytes.subarray(0, last.until)), end]) };
};

const factsIn = (entries: readonly StoredEntry[]): Omit<StoredThread, "threadId" | "seq"> => {
  const { createdAt = 0, updatedAt = createdAt, metadata } = factsOf(entries.filter(isEntry));
  // Damaged metadata may still be JSON.
  return { createdAt, updatedAt, metadata: typeof metadata === "object" && metadata !== null ? metadata : {} };
};

const storedIn = (bytes: Buffer, lines: readonly Line[]): readonly StoredEntry[] =>
  lines.flatMap((line) => entryIn(bytes, line) ?? []);

/** Returns the newest entry that changed the metadata, if any. Only lines that contain the event's name are parsed. */
const metadataChange = (bytes: Buffer): readonly StoredEntry[] => {
  let at = bytes.length;
  while (at > 0) {
    at = bytes.lastIndexOf('"metadata.changed"', at - 1);
    if (at === -1) break;
    const from = bytes.lastIndexOf("\n", at) + 1;
    const entry = entryIn(bytes, { from, until: bytes.indexOf("\n", at) + 1 });
    if (entry !== undefined && isEntry(entry) && entry.event.type === "metadata.changed") return [entry];
    at = from;
  }
  return [];
};

/**
 * Checks only the members from which facts are read. The journal's decoder judges the rest, which a newer version may
 * have written.
 */
const isEntry = (entry: StoredEntry): entry is StoredEntry & Entry => {
  const event = entry["event"];
  return typeof event === "object" && event !== null && "at" in event && typeof event.at === "number";
};
