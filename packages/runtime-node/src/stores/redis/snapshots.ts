import { type Lease, LeaseLostError, type SnapshotDraft, type StoredSnapshot } from "@colloquy/host";

import { fromStorable, toStorable } from "../storable-text.ts";
import type { Connection } from "./connection.ts";
import { keysOf } from "./keys.ts";
import * as scripts from "./scripts.ts";

/** Keeps a snapshot, all or nothing. Throws `LeaseLostError`. */
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

/** The newest snapshot: its head. Its chunks are fetched when they are looked for. */
export const readSnapshot = async ({ prefix, run }: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const keys = keysOf(prefix, threadId);
  // As the scripts say: a text or nil; ids and texts that take turns.
  const head = (await run(scripts.readSnapshot, keys, [])) as string | null;
  if (head === null) return null;
  const chunks = new Map<string, string>();
  return {
    head: fromStorable(head),
    chunk: (id) => {
      const text = chunks.get(toStorable(id));
      return text === undefined ? undefined : fromStorable(text);
    },
    fetch: async (chunk) => {
      const found = (await (chunk === null
        ? run(scripts.readChunks, keys, [...chunks.keys()])
        : run(scripts.readChunk, keys, [toStorable(chunk)]))) as readonly string[];
      for (let index = 0; index + 1 < found.length; index += 2) chunks.set(found[index] ?? "", found[index + 1] ?? "");
    },
  };
};
