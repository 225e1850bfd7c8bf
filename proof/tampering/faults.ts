import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { methodsOf, methodsOfInbox } from "../kit/store-methods.ts";

/** Ways to believe what is stored, to see that each is noticed. */
export const faults = {
  renumbering: "entries are given the seqs that they should have",
  blocking: "an inbox with a letter that can't be read is not read",
} as const;

export type Fault = keyof typeof faults;

/** A store with a fault built in. */
export const faultyStore = (store: Store, fault: Fault | null): Store => {
  if (fault === null) return store;
  const { inbox } = store;
  if (fault === "renumbering" || inbox === undefined)
    return {
      ...methodsOf(store),
      read: async (threadId, fromSeq = 0) =>
        // What is no entry becomes one without an event.
        (await store.read(threadId, fromSeq)).map((entry, index) => ({ ...(entry as Entry), seq: fromSeq + index })),
    };
  return {
    ...methodsOf(store),
    inbox: {
      ...methodsOfInbox(inbox),
      unanswered: async (threadId) => {
        const letters = await inbox.unanswered(threadId);
        if (letters.every(isWhole)) return letters;
        throw new Error(`a letter to thread "${threadId}" is damaged`);
      },
    },
  };
};

const isWhole = (letter: unknown): boolean =>
  typeof letter === "object" && letter !== null && "event" in letter && "id" in letter;
