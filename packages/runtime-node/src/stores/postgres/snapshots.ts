import { type Lease, LeaseLostError, type SnapshotDraft, type StoredSnapshot } from "@colloquy/host";

import type { Connection } from "./connection.ts";
import { fromStorable, toStorable } from "../storable-text.ts";
import type { Timed } from "./timed.ts";

/** Keeps a snapshot, all or nothing. Throws `LeaseLostError`. */
export const saveSnapshot = async (
  { query, schema, now }: Timed,
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

/** The newest snapshot with all its chunks, as one statement sees them. */
export const readSnapshot = async ({ query, schema }: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const rows = await query<{ readonly id: string | null; readonly body: string }>(
    `SELECT NULL AS id, head AS body FROM ${schema}.snapshots WHERE thread = $1
     UNION ALL SELECT id, body FROM ${schema}.chunks WHERE thread = $1`,
    [threadId],
  );
  const head = rows.find(({ id }) => id === null);
  if (head === undefined) return null;
  const chunks = new Map(rows.flatMap(({ id, body }) => (id === null ? [] : [[fromStorable(id), body] as const])));
  return {
    head: fromStorable(head.body),
    chunk: (id) => {
      const body = chunks.get(id);
      return body === undefined ? undefined : fromStorable(body);
    },
  };
};
