import { inboxAnswerOf, type Inbox, inboxItemOf } from "@colloquy/host/store";

import { attempt, type Connection, query, refuseUnstorable, writing } from "./connection.ts";
import type { Leases } from "./leases.ts";

export interface SqliteInbox extends Inbox {
  /** Within a transaction: removes all inbox items of a thread. Returns true if there were any. */
  readonly forget: (threadId: string) => boolean;
}

/** Creates an inbox in a table. An answer replaces its inbox item. Ids are stored as JSON, which can hold any text. */
export const sqliteInbox = (connection: Connection, leases: Leases): SqliteInbox => {
  const { database } = connection;
  // A thread has few inbox items at a time: scanning them costs less than an index of ids.
  const post = database.prepare(
    `INSERT INTO letters (thread, number, id, letter)
     SELECT ?, 1 + coalesce(max(number), 0), ?, ? FROM letters WHERE thread = ?
     HAVING NOT EXISTS (SELECT 1 FROM letters WHERE thread = ? AND id = ?)`,
  );
  const unanswered = query<{ readonly id: string; readonly letter: string }>(
    database,
    "SELECT id, letter FROM letters WHERE thread = ? AND answer IS NULL ORDER BY number",
  );
  const waiting = query<{ readonly thread: string }>(
    database,
    "SELECT DISTINCT thread FROM letters WHERE answer IS NULL",
  );
  const answer = database.prepare(
    "UPDATE letters SET letter = NULL, answer = ? WHERE thread = ? AND id = ? AND answer IS NULL",
  );
  const answerTo = query<{ readonly answer: string | null }>(
    database,
    "SELECT answer FROM letters WHERE thread = ? AND id = ?",
  );
  const discard = database.prepare("DELETE FROM letters WHERE thread = ? AND id = ?");
  const forget = database.prepare("DELETE FROM letters WHERE thread = ?");
  return {
    post: async (threadId, letter) => {
      refuseUnstorable(connection, threadId);
      const id = JSON.stringify(letter.id);
      attempt(connection, () => void post.run(threadId, id, JSON.stringify(letter), threadId, threadId, id));
    },
    unanswered: async (threadId) => {
      refuseUnstorable(connection, threadId);
      const rows = attempt(connection, () => unanswered.all(threadId));
      return rows.map(({ id, letter }) => inboxItemOf(() => JSON.parse(id), letter));
    },
    waiting: async () => attempt(connection, () => waiting.all()).map(({ thread }) => thread),
    answer: async (lease, answers) =>
      writing(connection, () => {
        leases.check(lease);
        for (const each of answers) answer.run(JSON.stringify(each), lease.threadId, JSON.stringify(each.id));
      }),
    answerTo: async (threadId, letterId) => {
      refuseUnstorable(connection, threadId);
      const text = attempt(connection, () => answerTo.get(threadId, JSON.stringify(letterId)))?.answer ?? null;
      return text === null ? null : inboxAnswerOf(letterId, text);
    },
    discard: async (threadId, letterId) => {
      refuseUnstorable(connection, threadId);
      attempt(connection, () => void discard.run(threadId, JSON.stringify(letterId)));
    },
    forget: (threadId) => forget.run(threadId).changes !== 0,
  };
};
