import { type Lease, LeaseLostError, type SnapshotDraft, type StoredSnapshot } from "@colloquy/host";

import type { Connection } from "./connection.ts";
import { fromStorable, toStorable } from "../storable-text.ts";

/** Keeps a snapshot, all or nothing. Throws `LeaseLostError`. */
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

/** The newest snapshot: its head. Its chunks are fetched when they are looked for. */
export const readSnapshot = async (connection: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const { query, schema } = connection;
  const [found] = await query<{ readonly head: string }>(`SELECT head FROM ${schema}.snapshots WHERE thread = $1`, [
    threadId,
  ]);
  if (found === undefined) return null;
  const bodies = new Map<string, string>();
  return {
    head: fromStorable(found.head),
    chunk: (id) => {
      const body = bodies.get(toStorable(id));
      return body === undefined ? undefined : fromStorable(body);
    },
    fetch: async (chunk) => {
      const rows = await (chunk === null
        ? chunksBut(connection, threadId, [...bodies.keys()])
        : chunkOf(connection, threadId, toStorable(chunk)));
      for (const { id, body } of rows) bodies.set(id, body);
    },
  };
};

interface Chunk {
  readonly id: string;
  readonly body: string;
}

const chunkOf = ({ query, schema }: Connection, threadId: string, id: string): Promise<readonly Chunk[]> =>
  query<Chunk>(`SELECT id, body FROM ${schema}.chunks WHERE thread = $1 AND id = $2`, [threadId, id]);

const chunksBut = (
  { query, schema }: Connection,
  threadId: string,
  known: readonly string[],
): Promise<readonly Chunk[]> =>
  query<Chunk>(`SELECT id, body FROM ${schema}.chunks WHERE thread = $1 AND id <> ALL ($2)`, [threadId, known]);
