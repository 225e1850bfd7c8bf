import { type Lease, LeaseLostError, type SnapshotDraft, type StoredSnapshot } from "@colloquy/host/store";

import { fetchedSnapshot } from "../fetched-snapshot.ts";
import { toStorable } from "../storable-text.ts";
import type { Connection } from "./connection.ts";
import { keysOf } from "./keys.ts";
import * as scripts from "./scripts.ts";

/** Saves a snapshot as a whole or not at all. Throws `LeaseLostError`. */
export const saveSnapshot = async (
  { prefix, now, run }: Connection,
  lease: Lease,
  { seq, head, chunks, dropped }: SnapshotDraft,
): Promise<void> => {
  const { threadId, token } = lease;
  const texts = [...chunks].flat().map(toStorable);
  const values = [token, now(), seq, toStorable(head), chunks.size, ...texts, ...dropped.map(toStorable)];
  const saved = await run(scripts.saveSnapshot, keysOf(prefix, threadId), values);
  if (saved === scripts.lost) throw new LeaseLostError(lease);
};

/** Reads the head of the newest snapshot. Its chunks are fetched on demand. */
export const readSnapshot = async ({ prefix, run }: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const keys = keysOf(prefix, threadId);
  // The types that the scripts return: a text or nil; alternating ids and texts.
  const head = (await run(scripts.readSnapshot, keys, [])) as string | null;
  if (head === null) return null;
  return fetchedSnapshot(head, async (id, known) => {
    const script = id === null ? run(scripts.readChunks, keys, known) : run(scripts.readChunk, keys, [id]);
    const found = (await script) as readonly string[];
    return found.flatMap((each, index) => (index % 2 === 0 ? [[each, found[index + 1] ?? ""] as const] : []));
  });
};
