import type { PartLog } from "@colloquy/host/store";
import { type Database, ofThread } from "./database.ts";
import type { Leases } from "./leases.ts";

/** What was shown of turns, for those who rejoin them in another tab. */
export const partLogOf = (database: Database, leases: Leases): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    const { threadId, token } = lease;
    await database.write(["leases", "parts"], async (writing) => {
      await leases.check(writing, lease);
      const parts = writing.objectStore("parts");
      for (let cursor = await parts.openCursor(ofThread(threadId)); cursor !== null; cursor = await cursor.continue())
        if (cursor.value.until <= at) await cursor.delete();
      await parts.put({ turn, body, until }, [threadId, token, number]);
    });
  },
  read: async (threadId, { at, after, turn }) => {
    const range =
      after === null
        ? ofThread(threadId)
        : IDBKeyRange.bound([threadId, after.token, after.number], [threadId, []], true);
    const [keys, rows] = await database.read(["parts"], (reading) => {
      const parts = reading.objectStore("parts");
      return Promise.all([parts.getAllKeys(range), parts.getAll(range)]);
    });
    return rows.flatMap(({ until, ...row }, index) => {
      const [, token, number] = keys[index] ?? [threadId, 0, 0];
      return until > at && (turn === undefined || row.turn === turn) ? [{ ...row, token, number }] : [];
    });
  },
});
