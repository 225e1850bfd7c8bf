import type { PartLog, StoredPartBatch } from "@colloquy/host/store";

import { attempt, type Connection, query, refuseUnstorable, writing } from "./connection.ts";
import type { Leases } from "./leases.ts";

export interface SqliteParts extends PartLog {
  /** Within a transaction: removes all shown parts of a thread. Returns true if there were any. */
  readonly forget: (threadId: string) => boolean;
}

/** Creates a part log. Writes do not wait for the disk, since parts need only survive a crash of the process. */
export const sqliteParts = (connection: Connection, leases: Leases): SqliteParts => {
  const { database } = connection;
  const add = database.prepare(
    "INSERT INTO parts (thread, token, number, turn, until, body) VALUES (?, ?, ?, ?, ?, ?)",
  );
  // The oldest rows come first. An index by time would be as large as the rows.
  const forgetOld = database.prepare(
    `DELETE FROM parts WHERE thread = ?1 AND until <= ?2 AND (token, number) IN (
       SELECT token, number FROM parts WHERE thread = ?1 ORDER BY token, number LIMIT 16)`,
  );
  const read = query<StoredPartBatch>(
    database,
    `SELECT token, number, turn, body FROM parts
     WHERE thread = ? AND (token, number) > (?, ?) AND until > ? AND turn BETWEEN ? AND ? ORDER BY token, number`,
  );
  const forget = database.prepare("DELETE FROM parts WHERE thread = ?");
  return {
    append: async (lease, { number, turn, body, at, until }) =>
      withoutFlush(connection, () =>
        writing(connection, () => {
          leases.check(lease);
          forgetOld.run(lease.threadId, at);
          add.run(lease.threadId, lease.token, number, turn, until, body);
        }),
      ),
    read: async (threadId, { at, after, turn }) => {
      refuseUnstorable(connection, threadId);
      const [token, number] = after === null ? [-1, -1] : [after.token, after.number];
      const [from, to] = turn === undefined ? [0, Number.MAX_SAFE_INTEGER] : [turn, turn];
      const rows = attempt(connection, () => read.all(threadId, token, number, at, from, to));
      return rows.map((row) => ({ ...row }));
    },
    forget: (threadId) => forget.run(threadId).changes !== 0,
  };
};

/** Commits without a flush. The next flushed commit flushes this one too, since both are in one log. */
const withoutFlush = <A>(connection: Connection, work: () => A): A => {
  const { database } = connection;
  const { synchronous } = attempt(connection, () => database.prepare("PRAGMA synchronous").get() ?? {});
  attempt(connection, () => database.exec("PRAGMA synchronous = NORMAL"));
  try {
    return work();
  } finally {
    if (database.isOpen) database.exec(`PRAGMA synchronous = ${String(synchronous)}`);
  }
};
