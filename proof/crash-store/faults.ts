import { setTimeout as delay } from "node:timers/promises";

import type { Store } from "@colloquy/host";

import { methodsOf } from "../kit/store-methods.ts";

/** Ways to break a store, so that a test can show that a kill would bring it to light. */
export const faults = {
  "write-behind": "an append is acknowledged a moment before it is stored",
  "head-first": "the head of a snapshot is stored a moment before its chunks",
  "forgetful-inbox": "an envelope is acknowledged a moment before it is stored",
} as const;

export type Fault = keyof typeof faults;

/** A store with a fault built in. */
export const faultyStore = (store: Store, fault: Fault | null): Store => {
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
  }
};

const later = (work: () => unknown): void =>
  void delay(5)
    .then(work)
    .catch(() => undefined);
