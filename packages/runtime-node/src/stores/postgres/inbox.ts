import { inboxAnswerOf, type Inbox, LeaseLostError, inboxItemOf } from "@colloquy/host/store";

import { fromStorable, toStorable } from "../storable-text.ts";
import { refuseUnstorable } from "../store-arguments.ts";
import type { Connection } from "./connection.ts";

/** Creates an inbox in a table. An answer replaces its inbox item. */
export const postgresInbox = (connection: Connection): Inbox => {
  const { query, prepared, schema, now } = connection;
  // Prepared, since each open thread sends it several times a second.
  const unanswered = prepared<{ readonly id: string; readonly letter: string }>(
    `SELECT id, letter FROM ${schema}.letters WHERE thread = $1 AND answer IS NULL ORDER BY number`,
  );
  return {
    post: async (threadId, letter) => {
      refuseUnstorable(connection.name, threadId);
      await query(
        `INSERT INTO ${schema}.letters (thread, id, letter) VALUES ($1, $2, $3) ON CONFLICT (thread, id) DO NOTHING`,
        [threadId, toStorable(letter.id), JSON.stringify(letter)],
      );
    },
    unanswered: async (threadId) => {
      refuseUnstorable(connection.name, threadId);
      const rows = await unanswered([threadId]);
      return rows.map(({ id, letter }) => inboxItemOf(() => fromStorable(id), letter));
    },
    answer: async (lease, answers) => {
      const ids = answers.map(({ id }) => toStorable(id));
      const texts = answers.map((answer) => JSON.stringify(answer));
      const [row] = await query<{ readonly held: boolean }>(`SELECT ${schema}.answer($1, $2, $3, $4, $5) AS held`, [
        lease.threadId,
        lease.token,
        now(),
        ids,
        texts,
      ]);
      if (row?.held !== true) throw new LeaseLostError(lease);
    },
    answerTo: async (threadId, letterId) => {
      refuseUnstorable(connection.name, threadId);
      const [row] = await query<{ readonly answer: string | null }>(
        `SELECT answer FROM ${schema}.letters WHERE thread = $1 AND id = $2`,
        [threadId, toStorable(letterId)],
      );
      const answer = row?.answer ?? null;
      return answer === null ? null : inboxAnswerOf(letterId, answer);
    },
    discard: async (threadId, letterId) => {
      refuseUnstorable(connection.name, threadId);
      await query(`DELETE FROM ${schema}.letters WHERE thread = $1 AND id = $2`, [threadId, toStorable(letterId)]);
    },
  };
};
