import { join } from "node:path";

import { factsOf } from "@colloquy/host/store";
import type { StoredThread } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { readIfThere } from "./disk.ts";
import { idEnding, idOf, isShortened, journalEnding, nameOf } from "./file-name.ts";
import { entryIn, type StoredEntry, wholeLines } from "./journal-lines.ts";
import { fs } from "../../ports/system.ts";

/**
 * Returns a function that lists a folder's threads from their journals. It remembers the facts of a file until the file
 * changes. A damaged journal is listed by its readable facts, so that only a reader of that thread gets an error.
 */
export const journalListing = (folder: string): (() => readonly StoredThread[]) => {
  let known: ReadonlyMap<string, Known> = new Map();
  return () => {
    const files = fs.readdirSync(folder).filter((file) => file.endsWith(journalEnding));
    known = new Map(files.map((file): [string, Known] => [file, factsAt(folder, file, known.get(file))]));
    return Array.from(known.values(), ({ thread }) => thread).filter((thread) => thread !== null);
  };
};

interface Known {
  /** Identifies the version of the file that was read. */
  readonly version: string;
  /** Null for a file that is not a thread's journal, or an empty one. */
  readonly thread: StoredThread | null;
}

const factsAt = (folder: string, file: string, known: Known | undefined): Known => {
  const path = join(folder, file);
  const stat = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  const version = `${stat?.ino} ${stat?.size} ${stat?.mtimeNs}`;
  if (known?.version === version) return known;
  const bytes = unlessUnreadable(() => readIfThere(path));
  if (bytes === null) return { version, thread: null };
  return { version, thread: threadIn(folder, file.slice(0, -journalEnding.length), bytes) };
};

/** Returns the facts of a thread, at least its id; null if it has none. No `bytes`: the file can't be read. */
const threadIn = (folder: string, name: string, bytes: Buffer = noEntry): StoredThread | null => {
  const lines = wholeLines(bytes, true);
  if (lines.length === 0) return null;
  const newest = lines.findLastIndex((line) => entryIn(bytes, line) !== undefined);
  const entries = lines.flatMap((line, index) => {
    const isRead = index === 0 || index === newest || bytes.subarray(line.from, line.until).includes(ofMetadata);
    return isRead ? (entryIn(bytes, line) ?? []) : [];
  });
  const threadId = threadIdOf(folder, name, entries[0]);
  return threadId === null ? null : { threadId, seq: entries.at(-1)?.seq ?? -1, ...factsIn(entries) };
};

const noEntry = Buffer.from("\n");
const ofMetadata = '"metadata.changed"';

/** Returns undefined for a file that can't be read, such as a folder. */
const unlessUnreadable = <A>(read: () => A): A | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** A long id is in its own file; if that is damaged or missing, it is read from the first entry. */
const threadIdOf = (folder: string, name: string, first: StoredEntry | undefined): string | null => {
  if (!isShortened(name)) return idOf(name);
  const event = first?.["event"];
  const ids = [
    unlessUnreadable(() => readIfThere(join(folder, name + idEnding)))?.toString(),
    typeof event === "object" && event !== null && "threadId" in event ? event.threadId : undefined,
  ];
  const isIts = (id: unknown): id is string => typeof id === "string" && id.isWellFormed() && nameOf(id) === name;
  return ids.find(isIts) ?? null;
};

const factsIn = (entries: readonly StoredEntry[]): Omit<StoredThread, "threadId" | "seq"> => {
  const { createdAt = 0, updatedAt = createdAt, metadata } = factsOf(entries.filter(isEntry));
  // Damaged metadata may still be JSON.
  return { createdAt, updatedAt, metadata: typeof metadata === "object" && metadata !== null ? metadata : {} };
};

/** Checks only the members that are read here. A newer version may have written the rest. */
const isEntry = (entry: StoredEntry): entry is StoredEntry & Entry => {
  const event = entry["event"];
  return typeof event === "object" && event !== null && "at" in event && typeof event.at === "number";
};
