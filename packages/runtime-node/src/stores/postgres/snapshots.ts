import { type Lease, LeaseLostError, type SnapshotDraft, type StoredSnapshot } from "@colloquy/host/store";

import type { Connection } from "./connection.ts";
import { fetchedSnapshot } from "../fetched-snapshot.ts";
import { toStorable } from "../storable-text.ts";

/** Saves a snapshot as a whole or not at all. Throws `LeaseLostError`. */
export const saveSnapshot = async (
  { query, schema, now }: Connection,
  lease: Lease,
  { seq, head, chunks, dropped }: SnapshotDraft,
): Promise<void> => {
  const [ids, bodies] = [[...chunks.keys()].map(toStorable), [...chunks.values()].map(toStorable)];
  const [row] = await query<{ readonly saved: boolean }>(
    `SELECT ${schema}.save_snapshot($1, $2, $3, $4, $5, $6, $7, $8) AS saved`,
    [lease.threadId, lease.token, now(), seq, toStorable(head), ids, bodies, dropped.map(toStorable)],
  );
  if (row?.saved !== true) throw new LeaseLostError(lease);
};

/** Reads the head of the newest snapshot. Its chunks are fetched on demand. */
export const readSnapshot = async (connection: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const { query, schema } = connection;
  const [found] = await query<{ readonly head: string }>(`SELECT head FROM ${schema}.snapshots WHERE thread = $1`, [
    threadId,
  ]);
  if (found === undefined) return null;
  return fetchedSnapshot(found.head, async (id, known) => {
    const [where, value] = id === null ? ["id <> ALL ($2)", known] : ["id = $2", id];
    const chunks = `SELECT id, body FROM ${schema}.chunks WHERE thread = $1 AND ${where}`;
    const rows = await query<{ readonly id: string; readonly body: string }>(chunks, [threadId, value]);
    return rows.map((chunk) => [chunk.id, chunk.body]);
  });
};
