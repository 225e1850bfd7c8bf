import { LeaseLostError, type PartLog } from "@colloquy/host/store";

import { refuseUnstorable } from "../store-arguments.ts";
import type { Connection } from "./connection.ts";
import { keysOf } from "./keys.ts";
import * as scripts from "./scripts.ts";

/**
 * Creates a part log: a stream with one item for each batch. Redis deletes the stream when nothing has been added for a
 * while.
 */
export const redisParts = ({ name, prefix, now, run }: Connection): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    const { threadId, token } = lease;
    const added = await run(scripts.addParts, keysOf(prefix, threadId), [token, now(), number, turn, body, at, until]);
    if (added === scripts.lost) throw new LeaseLostError(lease);
  },
  read: async (threadId, { at, after, turn }) => {
    refuseUnstorable(name, threadId);
    const from = after === null ? "-" : `(${after.token}-${after.number}`;
    // The types that the script returns.
    const found = (await run(scripts.readParts, keysOf(prefix, threadId), [
      from,
      at,
      turn ?? "",
    ])) as readonly (readonly [string, string, string])[];
    return found.map(([id, ofTurn, body]) => {
      const [token, number] = id.split("-");
      return { token: Number(token), number: Number(number), turn: Number(ofTurn), body };
    });
  },
});
