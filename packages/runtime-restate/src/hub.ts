import type { ShownPart } from "@colloquy/host/perform";
import type { Entry } from "@colloquy/machine";
import { z } from "zod";

/**
 * Carries what a thread shows, as it happens, from workers to the hosts that asked, beside the engine. Nothing depends on
 * it: a host reads in the journal what gets lost.
 */
export interface Hub {
  /** Publishes a message. Neither waits nor throws. */
  publish(threadId: string, message: HubMessage): void;
  /** Calls `heard` with each message about a thread from now on. Returns a function that ends this. */
  subscribe(threadId: string, heard: (message: HubMessage) => void): () => void;
  close(): Promise<void>;
}

export type HubMessage =
  /** Entries that were stored, and the parts that they show. */
  | { readonly type: "stored"; readonly entries: readonly Entry[]; readonly parts: readonly ShownPart[] }
  /**
   * Parts that a model or tool shows while it runs. Each performance of an effect draws a new `run`, which voids what the
   * one before showed.
   */
  | { readonly type: "shown"; readonly effectId: string; readonly run: string; readonly parts: readonly ShownPart[] };

/** A hub for workers and hosts in one process. */
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

/** Parses a message of a hub between processes. Returns an error, which quotes nothing of the text, if it is invalid. */
export const hubMessageIn = (text: string): HubMessage | Error => {
  try {
    const message: unknown = JSON.parse(text);
    // Returned as it was sent, since a heard entry is compared with the one that is read. The reader of the journal
    // decodes entries, and parts of an unknown type are ignored.
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
