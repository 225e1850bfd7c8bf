import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { methodsOf } from "../../kit/store-methods.ts";

/** Ways to believe what is stored, to see that each is noticed. */
export const faults = {
  renumbering: "entries are given the seqs that they should have",
  blocking: "an inbox with an inbox item that can't be read is not read",
} as const;

export type Fault = keyof typeof faults;

/** A store with a fault built in. */
export const faultyStore = (store: Store, fault: Fault | null): Store => {
  if (fault === null) return store;
  const methods = methodsOf(store);
  const { inbox } = methods;
  if (fault === "renumbering" || inbox === undefined)
    return {
      ...methods,
      read: async (threadId, fromSeq = 0) =>
        // A value that is not an entry becomes one without an event.
        (await store.read(threadId, fromSeq)).map((entry, index) => ({ ...(entry as Entry), seq: fromSeq + index })),
    };
  return {
    ...methods,
    inbox: {
      ...inbox,
      unanswered: async (threadId) => {
        const envelopes = await inbox.unanswered(threadId);
        if (envelopes.every(isWhole)) return envelopes;
        throw new Error(`an envelope to thread "${threadId}" is damaged`);
      },
    },
  };
};

const isWhole = (envelope: unknown): boolean =>
  typeof envelope === "object" && envelope !== null && "event" in envelope && "id" in envelope;
