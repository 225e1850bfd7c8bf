import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { isUnreachable } from "../kit/calls.ts";
import { methodsOf } from "../kit/store-methods.ts";

/** Ways to misunderstand a network, to see that each is noticed. */
export const faults = {
  believing: "an append without an answer counts as done",
  insisting: "an append without an answer is appended once more at the end",
  waiting: "a call without an answer is waited for",
  throwing: "a call without an answer also causes an unhandled rejection",
} as const;

export type Fault = keyof typeof faults;

/** A store with a fault built in. */
export const faultyStore = (store: Store, fault: Fault | null): Store => {
  if (fault === null) return store;
  return {
    ...methodsOf(store),
    append: async (lease, expectedSeq, entries) => {
      try {
        await store.append(lease, expectedSeq, entries);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
        if (fault === "waiting") await new Promise<never>(() => {});
        if (fault === "throwing") void Promise.reject(error);
        if (fault === "insisting") await appendAgain(store, lease.threadId, lease.owner, entries);
        else if (fault !== "believing") throw error;
      }
    },
  };
};

const appendAgain = async (store: Store, threadId: string, owner: string, entries: readonly Entry[]): Promise<void> => {
  for (;;) {
    try {
      const lease = await store.acquire(threadId, owner, 1_000);
      if (lease === null) return;
      const { length } = await store.read(threadId);
      // The same entries, further back in the journal.
      const again = entries.map((entry, index) => ({ ...entry, seq: length + index }) as Entry);
      return await store.append(lease, length - 1, again);
    } catch (error) {
      if (!isUnreachable(error)) throw error;
    }
  }
};
