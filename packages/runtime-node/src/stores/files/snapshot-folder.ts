import { rmSync } from "node:fs";
import { join } from "node:path";

import type { SnapshotDraft, StoredSnapshot } from "@colloquy/host/store";

import { fromStorable, toStorable } from "../storable-text.ts";
import { checkFolder, flushFolder, isFolderThere, makeFolder, readIfThere, removeFolder, replaceFile } from "./disk.ts";
import { nameOf } from "./file-name.ts";

/**
 * Stores a snapshot in a folder: one file for each chunk, and the head that names them. New chunks come first and
 * dropped ones go last, so that after an interruption the present head still finds its chunks. Requires the lock.
 */
export const writeSnapshot = (folder: string, { head, chunks, dropped }: SnapshotDraft, flush: boolean): void => {
  makeFolder(folder);
  for (const [id, text] of chunks) replaceFile(chunkFile(folder, id), toStorable(text), flush);
  if (flush && chunks.size > 0) flushFolder(folder);
  replaceFile(join(folder, headName), toStorable(head), flush);
  if (flush) flushFolder(folder);
  for (const id of dropped) rmSync(chunkFile(folder, id), { force: true });
};

/**
 * Removes a snapshot. The head goes first, so that the rest is not a snapshot after an interruption. Requires the lock.
 */
export const removeSnapshot = (folder: string, flush: boolean): void => {
  checkFolder(folder);
  if (!isFolderThere(folder)) return;
  rmSync(join(folder, headName), { force: true });
  // Flush first, so that neither a later change nor the end of a chunk reaches the disk before this.
  if (flush) flushFolder(folder);
  removeFolder(folder);
};

/** Reads the snapshot in a folder; returns null if there is none. `inWords` runs later reads of chunks. */
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
