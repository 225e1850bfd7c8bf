import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { isUnreachable } from "./user.ts";

/** Ways to misunderstand a network, to see that each is noticed. */
export const faults = {
  believing: "an append without an answer counts as done",
  insisting: "an append without an answer is appended once more at the end",
  waiting: "a call without an answer is waited for",
  throwing: "a call without an answer is also rejected where nobody looks",
} as const;

export type Fault = keyof typeof faults;

export const isFault = (name: string): name is Fault => Object.hasOwn(faults, name);

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

/** A store whose methods can be replaced one by one. */
export const methodsOf = (store: Store): Store => ({
  acquire: (...given) => store.acquire(...given),
  renew: (...given) => store.renew(...given),
  release: (...given) => store.release(...given),
  append: (...given) => store.append(...given),
  read: (...given) => store.read(...given),
  rewrite: (...given) => store.rewrite(...given),
  saveSnapshot: (...given) => store.saveSnapshot(...given),
  readSnapshot: (...given) => store.readSnapshot(...given),
  list: (...given) => store.list(...given),
  delete: (...given) => store.delete(...given),
  close: () => store.close(),
  ...(store.inbox && { inbox: store.inbox }),
});
