import { setTimeout as delay } from "node:timers/promises";

import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { isUnreachable } from "../../kit/calls.ts";
import { methodsOf } from "../../kit/store-methods.ts";

/** Faults that store data too late, to show that kills reveal each. */
export const lateFaults = {
  "write-behind": "an append is acknowledged a moment before it is stored",
  "head-first": "the head of a snapshot is stored a moment before its chunks",
  "forgetful-inbox": "an inbox item is acknowledged a moment before it is stored",
} as const;

/** Faults that misread a network's failures, to show that each is noticed. */
export const networkFaults = {
  believing: "an append without an answer counts as done",
  insisting: "an append without an answer is appended once more at the end",
  waiting: "a call without an answer is waited for",
  throwing: "a call without an answer also causes an unhandled rejection",
} as const;

export const faultyStore = (
  store: Store,
  fault: keyof typeof lateFaults | keyof typeof networkFaults | null,
): Store => {
  const methods = methodsOf(store);
  const { inbox } = methods;
  switch (fault) {
    case null:
      return store;
    case "write-behind":
      return { ...methods, append: async (...given) => later(() => store.append(...given)) };
    case "head-first":
      return {
        ...methods,
        saveSnapshot: async (lease, snapshot) => {
          await store.saveSnapshot(lease, { ...snapshot, chunks: new Map() });
          await delay(5);
          await store.saveSnapshot(lease, snapshot);
        },
      };
    case "forgetful-inbox":
      return {
        ...methods,
        ...(inbox && { inbox: { ...inbox, post: async (...given) => later(() => inbox.post(...given)) } }),
      };
    default:
      return { ...methods, append: appendOver(store, fault) };
  }
};

const later = (work: () => unknown): void =>
  void delay(5)
    .then(work)
    .catch(() => undefined);

const appendOver =
  (store: Store, fault: keyof typeof networkFaults): Store["append"] =>
  async (lease, expectedSeq, entries) => {
    try {
      await store.append(lease, expectedSeq, entries);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      if (fault === "waiting") await new Promise<never>(() => {});
      if (fault === "throwing") void Promise.reject(error);
      if (fault === "insisting") await appendAgain(store, lease.threadId, lease.owner, entries);
      else if (fault !== "believing") throw error;
    }
  };

const appendAgain = async (store: Store, threadId: string, owner: string, entries: readonly Entry[]): Promise<void> => {
  for (;;) {
    try {
      const lease = await store.acquire(threadId, owner, 1_000);
      if (lease === null) return;
      const { length } = await store.read(threadId);
      // The same entries, later in the journal.
      const again = entries.map((entry, index) => ({ ...entry, seq: length + index }) as Entry);
      return await store.append(lease, length - 1, again);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
  }
};
