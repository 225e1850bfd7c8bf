import { memoryStore } from "@colloquy/host";
import type { PartLog } from "@colloquy/host/store";

import { fault, type Fault, type Faults, present } from "./fault.ts";

/** Stores with faults in the shown parts of turns. */
export const partsFaults: Faults = [
  fault(
    "parts in another order",
    "keeps the parts of turns in order",
    logged((log) => ({ read: async (...given) => (await log.read(...given)).toReversed() })),
  ),
  fault(
    "parts of all threads in one place",
    "keeps the parts of turns in order",
    logged((log) => ({
      append: (lease, batch) => log.append(lease, batch),
      read: async (threadId, range) => [...(await log.read(threadId, range)), ...(await log.read("elsewhere", range))],
    })),
  ),
  fault(
    "parts that are read from the beginning",
    "reads parts behind a batch",
    logged((log) => ({ read: (threadId, range) => log.read(threadId, { ...range, after: null }) })),
  ),
  fault(
    "parts that are read by their number alone",
    "reads parts behind a batch",
    logged((log) => ({
      read: async (threadId, { after, ...range }) =>
        (await log.read(threadId, { ...range, after: null })).filter(({ number }) => number > (after?.number ?? -1)),
    })),
  ),
  fault(
    "parts of any turn",
    "reads parts behind a batch",
    logged((log) => ({ read: (threadId, { at, after }) => log.read(threadId, { at, after }) })),
  ),
  fault("parts for anybody", "adds no parts under a lease", (_, clock) => {
    const shown = memoryStore({ clock });
    return {
      parts: {
        append: async (lease, batch) => {
          const any = await shown.acquire(lease.threadId, "anybody", 1_000_000);
          if (any !== null) await present(shown.parts).append({ ...any }, batch);
        },
        read: async (...given) => present(shown.parts).read(...given),
      },
    };
  }),
  fault(
    "parts that are shown when their time is over",
    "shows no parts whose time is over",
    logged((log) => ({ read: (threadId, range) => log.read(threadId, { ...range, at: 0 }) })),
  ),
  fault(
    "parts that are kept for ever",
    "shows no parts whose time is over",
    logged((log) => ({ append: (lease, batch) => log.append(lease, { ...batch, at: 0 }) })),
  ),
  fault("a deletion that keeps parts", "deletes parts with their thread", (sound) => ({
    delete: async (threadId) => threadId !== "only parts" && sound.delete(threadId),
  })),
  fault("a rewriting that keeps parts", "deletes parts with their thread", (sound, clock) => {
    // As if the log belonged to another store.
    const other = memoryStore({ clock });
    return {
      delete: async (threadId) => {
        await other.delete(threadId);
        return sound.delete(threadId);
      },
      parts: {
        append: async ({ threadId }, batch) => {
          const lease = await other.acquire(threadId, "log", 1_000_000);
          if (lease !== null) await present(other.parts).append(lease, batch);
        },
        read: (...given) => present(other.parts).read(...given),
      },
    };
  }),
  fault(
    "parts without half characters",
    "gives back the texts of parts exactly",
    logged((log) => ({
      append: (lease, batch) => log.append(lease, { ...batch, body: batch.body.replaceAll("\\ud800", "") }),
    })),
  ),
];

function logged(change: (log: PartLog) => Partial<PartLog>): Fault {
  return ({ parts }) => {
    const log = present(parts);
    return {
      parts: {
        append: (...given) => log.append(...given),
        read: (...given) => log.read(...given),
        ...change(log),
      },
    };
  };
}
