import type { ShownPart } from "@colloquy/host/perform";
import type { Entry } from "@colloquy/machine";
import { z } from "zod";

/**
 * What passes by the engine: what is shown of threads while it happens, from workers to those who asked. Nothing depends on
 * it: what gets lost is read in the journal.
 */
export interface Hub {
  /** Neither waits nor throws. */
  publish(threadId: string, message: HubMessage): void;
  /** Calls `heard` with what is published of a thread from here on, until the function that it gives is called. */
  subscribe(threadId: string, heard: (message: HubMessage) => void): () => void;
  close(): Promise<void>;
}

/** Plain JSON. */
export type HubMessage =
  /** Entries that were stored, and what they show. */
  | { readonly type: "stored"; readonly entries: readonly Entry[]; readonly parts: readonly ShownPart[] }
  /** What a model or tool shows as it continues. `run` is drawn for each time that an effect is performed: another one, and what the one before had shown is void. */
  | { readonly type: "shown"; readonly effectId: string; readonly run: string; readonly parts: readonly ShownPart[] };

/** A hub for workers and those who ask in one process. */
export const memoryHub = (): Hub => {
  const listeners = new Map<string, Set<(message: HubMessage) => void>>();
  return {
    publish: (threadId, message) => {
      for (const heard of listeners.get(threadId) ?? []) heard(message);
    },
    subscribe: (threadId, heard) => {
      const ofThread = listeners.get(threadId) ?? new Set();
      listeners.set(threadId, ofThread.add(heard));
      return () => {
        ofThread.delete(heard);
        if (ofThread.size === 0 && listeners.get(threadId) === ofThread) listeners.delete(threadId);
      };
    },
    close: async () => listeners.clear(),
  };
};

/** What a hub between processes was given as a text; an error that quotes nothing of it, for what is none. */
export const hubMessageIn = (text: string): HubMessage | Error => {
  try {
    const message: unknown = JSON.parse(text);
    // As it was sent, member by member: a heard entry is compared with the one that is read. Entries are decoded by who
    // reads them as a journal, and parts of an unknown type are passed over.
    if (messageSchema.safeParse(message).success) return message as HubMessage;
  } catch {}
  return new TypeError("the published value is not a message of a hub: do others use its channels?");
};

const parts = z.array(z.looseObject({ turn: z.number(), part: z.looseObject({ type: z.string() }) }));

const messageSchema = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("stored"),
    entries: z.array(z.looseObject({ seq: z.number(), event: z.looseObject({ type: z.string() }) })),
    parts,
  }),
  z.looseObject({ type: z.literal("shown"), effectId: z.string(), run: z.string(), parts }),
]);
