import { lstatSync } from "node:fs";
import { join } from "node:path";

import { factsOf, type StoredThread } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { namesIn, readIfThere } from "./disk.ts";
import { idOf, isShortened } from "./file-name.ts";
import { entryIn, firstDamage, type StoredEntry, wholeLines } from "./journal-lines.ts";

/** What the journals of a folder tell of their threads. Remembers what it read for as long as a file does not change. */
export const journalFacts = (folder: string): (() => readonly StoredThread[]) => {
  let known = new Map<string, Known>();
  return () => {
    const seen = new Map<string, Known>();
    for (const file of namesIn(folder)) {
      if (!file.endsWith(journalEnding)) continue;
      const facts = factsIn(folder, file, known.get(file));
      if (facts !== null) seen.set(file, facts);
    }
    known = seen;
    return [...seen.values()].flatMap(({ thread }) => (thread === null ? [] : [thread]));
  };
};

/** How the names of journals end. */
export const journalEnding = ".jsonl";

/** How the names of files end that hold the id of a thread whose name does not tell it. */
export const idEnding = ".id";

interface Known {
  /** Which version of the file was read. */
  readonly version: string;
  /** Null for an empty journal. */
  readonly thread: StoredThread | null;
}

/** Null for a file that is no thread's, or is gone by now. */
const factsIn = (folder: string, file: string, known: Known | undefined): Known | null => {
  const path = join(folder, file);
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  const version = `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
  if (known?.version === version) return known;
  const threadId = threadIdOf(folder, file.slice(0, -journalEnding.length));
  if (threadId === null) return null;
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  return { version, thread: threadIn(threadId, bytes, path) };
};

const threadIdOf = (folder: string, name: string): string | null => {
  if (!isShortened(name)) return idOf(name);
  const text = readIfThere(join(folder, name + idEnding));
  return text === null ? null : text.toString();
};

const threadIn = (threadId: string, bytes: Buffer, path: string): StoredThread | null => {
  const lines = wholeLines(bytes, true);
  const first = lines[0];
  const last = lines.at(-1);
  if (first === undefined || last === undefined) return null;
  const begin = entryIn(bytes, first);
  const end = entryIn(bytes, last);
  if (begin?.seq !== 0 || end?.seq !== lines.length - 1) throw firstDamage(path, bytes, lines);
  const telling = [begin, ...metadataChange(bytes.subarray(0, last.until)), end].filter(isEntry);
  const { createdAt = 0, updatedAt = createdAt, metadata = {} } = factsOf(telling);
  return { threadId, seq: end.seq, createdAt, updatedAt, metadata };
};

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
