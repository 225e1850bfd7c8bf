import { lstatSync } from "node:fs";
import { join } from "node:path";

import { factsOf, StorageError } from "@colloquy/host/store";
import type { StoredThread } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { namesIn, readIfThere } from "./disk.ts";
import { idOf, isShortened, nameOf } from "./file-name.ts";
import { entryIn, firstDamage, type Line, type StoredEntry, wholeLines } from "./journal-lines.ts";

/**
 * What the journals of a folder say of their threads. Remembers what it read for as long as a file does not change.
 *
 * Throws a `StorageError` for a journal that is damaged, or is no file. Where the caller `isSure` that no process is writing, such a
 * thread is listed by what can be read of it: a reader of the thread gets the error, and the others are listed.
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

/** How the names of journals end. */
export const journalEnding = ".jsonl";

/** How the names of files end that hold the id of a thread whose name does not show it. */
export const idEnding = ".id";

interface Known {
  /** Which version of the file was read. */
  readonly version: string;
  /** Null for an empty journal. */
  readonly thread: StoredThread | null;
}

/** Null for a file that is no thread's, or is gone by now. */
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

/** A long id stands in a file of its own; where that was damaged or is gone, in the first entry. Null where it is nowhere. */
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

/** What can be read of a thread, which may be nothing but its id. */
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
  // What was damaged may still be JSON.
  return { createdAt, updatedAt, metadata: typeof metadata === "object" && metadata !== null ? metadata : {} };
};

const storedIn = (bytes: Buffer, lines: readonly Line[]): readonly StoredEntry[] =>
  lines.flatMap((line) => entryIn(bytes, line) ?? []);

/** The newest entry that changed the metadata, if there is one. Only lines that have the words are looked into. */
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

/** As far as facts are read from it. What else a newer version may have written is for the journal's decoder to judge. */
const isEntry = (entry: StoredEntry): entry is StoredEntry & Entry => {
  const event = entry["event"];
  return typeof event === "object" && event !== null && "at" in event && typeof event.at === "number";
};
