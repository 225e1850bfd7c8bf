import { setTimeout as delay } from "node:timers/promises";

import type { Store } from "@colloquy/host";

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
    acquire: (...given) => store.acquire(...given),
    renew: (...given) => store.renew(...given),
    release: (...given) => store.release(...given),
    append: async (lease, expectedSeq, entries) => {
      if (fault === "write-behind") return later(() => store.append(lease, expectedSeq, entries));
      await store.append(lease, expectedSeq, entries);
    },
    read: (...given) => store.read(...given),
    rewrite: (...given) => store.rewrite(...given),
    saveSnapshot: async (lease, snapshot) => {
      if (fault !== "head-first") return store.saveSnapshot(lease, snapshot);
      await store.saveSnapshot(lease, { ...snapshot, chunks: new Map() });
      await delay(5);
      await store.saveSnapshot(lease, snapshot);
    },
    readSnapshot: (...given) => store.readSnapshot(...given),
    list: (...given) => store.list(...given),
    delete: (...given) => store.delete(...given),
    close: () => store.close(),
    ...(inbox && {
      inbox: {
        post: async (threadId, letter) => {
          if (fault === "forgetful-inbox") return later(() => inbox.post(threadId, letter));
          await inbox.post(threadId, letter);
        },
        unanswered: (...given) => inbox.unanswered(...given),
        answer: (...given) => inbox.answer(...given),
        answerTo: (...given) => inbox.answerTo(...given),
        discard: (...given) => inbox.discard(...given),
      },
    }),
  };
};
