import { LeaseLostError, type PartLog } from "@colloquy/host/store";

import { refuseUnstorable } from "../store-arguments.ts";
import type { Connection } from "./connection.ts";

/** Creates a part log with one row for each batch. */
export const postgresParts = ({ query, schema, name, now }: Connection): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    const [row] = await query<{ readonly held: boolean }>(
      `SELECT ${schema}.add_parts($1, $2, $3, $4, $5, $6, $7, $8) AS held`,
      [lease.threadId, lease.token, now(), number, turn, body, at, until],
    );
    if (row?.held !== true) throw new LeaseLostError(lease);
  },
  read: async (threadId, { at, after, turn }) => {
    refuseUnstorable(name, threadId);
    const rows = await query<{
      readonly token: string;
      readonly number: number;
      readonly turn: number;
      readonly body: string;
    }>(
      `SELECT token, number, turn, body FROM ${schema}.parts
       WHERE thread = $1 AND (token, number) > ($2, $3) AND until > $4 AND ($5::integer IS NULL OR turn = $5)
       ORDER BY token, number`,
      [threadId, after?.token ?? -1, after?.number ?? -1, at, turn ?? null],
    );
    // The driver returns a bigint as text.
    return rows.map((row) => ({ ...row, token: Number(row.token) }));
  },
});
