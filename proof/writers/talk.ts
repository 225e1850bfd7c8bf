import { z } from "zod";

import type { StorePlace } from "../kit/places.ts";

/** The options of a child, as JSON in its first argument. */
export interface ChildOptions {
  readonly store: StorePlace;
  /** Which of the children it is, from 1. */
  readonly writer: number;
  readonly asks: number;
  /** How many asks of its own it has out at a time. */
  readonly outstanding: number;
  readonly leaseTtlMs: number;
}

/** A report of a child, a line each. */
export const reportSchema = z.discriminatedUnion("type", [
  /** An ask has its outcome. */
  z.object({ type: z.literal("answered"), askId: z.string(), turn: z.number(), text: z.string() }),
  /** An ask was rejected by what may pass, and is asked again. */
  z.object({ type: z.literal("again"), askId: z.string(), because: z.string() }),
  /** It calls the model, so it has the lease of the thread. */
  z.object({ type: z.literal("performs") }),
  /** All of its asks are answered. It stays, for the others. */
  z.object({ type: z.literal("done") }),
]);

export type Report = z.infer<typeof reportSchema>;

/** The thread that all of them write. */
export const threadId = "shared";

/** The id of an ask, which is also what is asked. */
export const askIdOf = (writer: number, ask: number): string => `writer-${writer}-ask-${ask}`;

/** Returns the model's answer to an ask. */
export const answerTo = (askId: string): string => `the answer to ${askId}`;
