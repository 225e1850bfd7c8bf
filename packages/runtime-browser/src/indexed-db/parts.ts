import type { PartLog } from "@colloquy/host/store";
import { type Database, ofThread, type Writing } from "./database.ts";
import type { Leases } from "./leases.ts";

/** Makes the log of shown parts, for callers that rejoin a turn in another tab. */
export const partLogOf = (database: Database, leases: Leases): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    const { threadId, token } = lease;
    const add = async (writing: Writing): Promise<void> => {
      await leases.check(writing, lease);
      const parts = writing.objectStore("parts");
      // Expired parts of all threads, because some threads may never be written again.
      for (const key of await parts.index("until").getAllKeys(IDBKeyRange.upperBound(at))) await parts.delete(key);
      await parts.put({ turn, body, until }, [threadId, token, number]);
    };
    // Parts are written ten times a second, and need not survive a power cut.
    await database.write(["leases", "parts"], add, "relaxed");
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
