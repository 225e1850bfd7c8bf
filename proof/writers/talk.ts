import type { Store } from "@colloquy/host";
import { sqliteStore } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { z } from "zod";

/** What a child is told, as JSON in its first argument. */
export interface ChildOptions {
  readonly store: StoreAddress;
  /** Which of the children it is, from 1. */
  readonly writer: number;
  readonly asks: number;
  /** How many asks of its own it has out at a time. */
  readonly outstanding: number;
  readonly leaseTtlMs: number;
}

export type StoreAddress =
  | { readonly type: "sqlite"; readonly path: string }
  | { readonly type: "postgres"; readonly url: string; readonly schema: string };

export const openStore = (address: StoreAddress): Store =>
  address.type === "sqlite"
    ? sqliteStore({ path: address.path, synchronous: "NORMAL" })
    : postgresStore({ connectionString: address.url, schema: address.schema });

/** What a child reports, a line each. */
export const reportSchema = z.discriminatedUnion("type", [
  /** An ask has its outcome. */
  z.object({ type: z.literal("answered"), askId: z.string(), turn: z.number(), text: z.string() }),
  /** An ask was rejected by what may pass, and is asked again. */
  z.object({ type: z.literal("again"), askId: z.string(), because: z.string() }),
  /** It calls the model, so it holds the thread. */
  z.object({ type: z.literal("performs") }),
  /** All of its asks are answered. It stays, for the others. */
  z.object({ type: z.literal("done") }),
]);

export type Report = z.infer<typeof reportSchema>;

/** The thread that all of them write. */
export const threadId = "shared";

/** The id of an ask, which is also what is asked. */
export const askIdOf = (writer: number, ask: number): string => `writer-${writer}-ask-${ask}`;

/** What the model answers to an ask. */
export const answerTo = (askId: string): string => `the answer to ${askId}`;
