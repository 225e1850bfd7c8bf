import { setTimeout as delay } from "node:timers/promises";

import type { Store } from "@colloquy/host";

import { methodsOf, methodsOfInbox } from "../kit/store-methods.ts";

/** Ways to break a store, so that a test can show that a kill would bring it to light. */
export const faults = {
  "write-behind": "an append is acknowledged a moment before it is stored",
  "head-first": "the head of a snapshot is stored a moment before its chunks",
  "forgetful-inbox": "a letter is acknowledged a moment before it is stored",
} as const;

export type Fault = keyof typeof faults;

/** A store with a fault built in. */
export const faultyStore = (store: Store, fault: Fault | null): Store => {
  if (fault === null) return store;
  const { inbox } = store;
  const later = (work: () => unknown): void =>
    void delay(5)
      .then(work)
      .catch(() => undefined);
  return {
    ...methodsOf(store),
    append: async (lease, expectedSeq, entries) => {
      if (fault === "write-behind") return later(() => store.append(lease, expectedSeq, entries));
      await store.append(lease, expectedSeq, entries);
    },
    saveSnapshot: async (lease, snapshot) => {
      if (fault !== "head-first") return store.saveSnapshot(lease, snapshot);
      await store.saveSnapshot(lease, { ...snapshot, chunks: new Map() });
      await delay(5);
      await store.saveSnapshot(lease, snapshot);
    },
    ...(inbox && {
      inbox: {
        ...methodsOfInbox(inbox),
        post: async (threadId, letter) => {
          if (fault === "forgetful-inbox") return later(() => inbox.post(threadId, letter));
          await inbox.post(threadId, letter);
        },
      },
    }),
  };
};
