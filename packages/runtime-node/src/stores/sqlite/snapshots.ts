import type { Store } from "@colloquy/host";
import { noSuchEntry, type StoredSnapshot } from "@colloquy/host/store";

import { attempt, type Connection, query, refuseUnstorable, writing } from "./connection.ts";
import type { Leases } from "./leases.ts";

export interface Snapshots extends Pick<Store, "saveSnapshot" | "readSnapshot"> {
  /** Within a transaction: removes the snapshot of a thread. */
  readonly forget: (thread: number) => void;
}

/** Creates snapshots: a row for the head, and one for each chunk. `numberOf` finds the number of a thread. */
export const sqliteSnapshots = (
  connection: Connection,
  leases: Leases,
  numberOf: (threadId: string) => number | undefined,
): Snapshots => {
  const { database } = connection;
  const save = database.prepare("INSERT OR REPLACE INTO snapshots (thread, part, body) VALUES (?, ?, ?)");
  const drop = database.prepare("DELETE FROM snapshots WHERE thread = ? AND part = ?");
  const read = query<{ readonly body: string }>(
    database,
    "SELECT body FROM snapshots WHERE thread = (SELECT id FROM threads WHERE thread = ?) AND part = ?",
  );
  const forget = database.prepare("DELETE FROM snapshots WHERE thread = ?");
  const part = (threadId: string, name: string): string | undefined => read.get(threadId, name)?.body;
  return {
    saveSnapshot: async (lease, { seq, head, chunks, dropped }) =>
      writing(connection, () => {
        leases.check(lease);
        const thread = numberOf(lease.threadId);
        if (thread === undefined) throw noSuchEntry(lease.threadId, seq);
        for (const [id, text] of chunks) save.run(thread, chunkPart(id), text);
        for (const id of dropped) drop.run(thread, chunkPart(id));
        save.run(thread, headPart, head);
      }),
    readSnapshot: async (threadId): Promise<StoredSnapshot | null> => {
      refuseUnstorable(connection, threadId);
      const head = attempt(connection, () => part(threadId, headPart));
      if (head === undefined) return null;
      return { head, chunk: (id) => attempt(connection, () => part(threadId, chunkPart(id))) };
    },
    forget: (thread) => void forget.run(thread),
  };
};

const headPart = "head";
const chunkPart = (id: string): string => `chunk ${id}`;
