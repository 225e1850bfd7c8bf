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

/** The newest snapshot with all its chunks, as one script sees them. */
export const readSnapshot = async ({ prefix, run }: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  // As the script says: ids and texts take turns.
  const [head, found] = (await run(scripts.readSnapshot, keysOf(prefix, threadId), [])) as readonly [
    string | null,
    readonly string[],
  ];
  if (head === null) return null;
  const chunks = new Map<string, string>();
  for (let index = 0; index + 1 < found.length; index += 2) chunks.set(found[index] ?? "", found[index + 1] ?? "");
  return {
    head: fromStorable(head),
    chunk: (id) => {
      const text = chunks.get(toStorable(id));
      return text === undefined ? undefined : fromStorable(text);
    },
  };
};
