import { rmSync } from "node:fs";
import { join } from "node:path";

import type { SnapshotDraft, StoredSnapshot } from "@colloquy/host/store";

import { fromStorable, toStorable } from "../storable-text.ts";
import { checkFolder, flushFolder, isFolderThere, makeFolder, readIfThere, removeFolder, replaceFile } from "./disk.ts";
import { nameOf } from "./file-name.ts";

/**
 * Keeps a snapshot in a folder: each chunk a file, and the head that names them. The chunks come first and what is
 * dropped goes last, so that whatever interrupts it, the head that is there finds its chunks. Under the lock.
 */
export const writeSnapshot = (folder: string, { head, chunks, dropped }: SnapshotDraft, flush: boolean): void => {
  makeFolder(folder);
  for (const [id, text] of chunks) replaceFile(chunkFile(folder, id), toStorable(text), flush);
  if (flush && chunks.size > 0) flushFolder(folder);
  replaceFile(join(folder, headName), toStorable(head), flush);
  if (flush) flushFolder(folder);
  for (const id of dropped) rmSync(chunkFile(folder, id), { force: true });
};

/** Removes a snapshot. The head goes first: what is left when it is interrupted is no snapshot. Under the lock. */
export const removeSnapshot = (folder: string, flush: boolean): void => {
  checkFolder(folder);
  if (!isFolderThere(folder)) return;
  rmSync(join(folder, headName), { force: true });
  // Neither what is done next nor the end of a chunk may be on the disk before.
  if (flush) flushFolder(folder);
  removeFolder(folder);
};

/** The snapshot in a folder; null when there is none. `inWords` runs what reads a chunk, later. */
export const snapshotIn = (folder: string, inWords: <A>(read: () => A) => A): StoredSnapshot | null => {
  const head = textIn(folder, join(folder, headName));
  if (head === null) return null;
  return { head, chunk: (id) => inWords(() => textIn(folder, chunkFile(folder, id)) ?? undefined) };
};

const textIn = (folder: string, path: string): string | null => {
  const bytes = isFolderThere(folder) ? readIfThere(path) : null;
  return bytes === null ? null : fromStorable(bytes.toString());
};

const headName = "head.json";

const chunkFile = (folder: string, id: string): string => join(folder, `chunk-${nameOf(id)}.json`);
