// A worker of an engine, in a process of its own: its model answers at once. It says where it listens, and when its parent asks,
// what it has cost so far.
import { subscribe } from "node:diagnostics_channel";
import { setImmediate as nextMacrotask } from "node:timers/promises";

import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { serve } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import { cpuMicros } from "../kit/measure.ts";
import { variedAnswers } from "./engine-threads.ts";

export interface EngineWorkerOptions {
  /** The admin API of the server. */
  readonly admin: string;
  /** The Redis of its hub; null for none. */
  readonly redisUrl: string | null;
  readonly snapshotEvery: number;
  /** Default: a free one. */
  readonly port?: number;
}

/** The work of a worker since its start. */
export interface WorkerFacts {
  /** Of CPU. */
  readonly micros: number;
  /** How often Restate called each of its handlers. */
  readonly calls: Readonly<Record<string, number>>;
  /** Bytes of its memory. */
  readonly resident: number;
}

const work = async ({ redisUrl, port = 0, ...options }: EngineWorkerOptions): Promise<void> => {
  const calls: Record<string, number> = {};
  subscribe("http2.server.stream.start", (started) => {
    const handler = handlerIn(started);
    if (handler !== null) calls[handler] = (calls[handler] ?? 0) + 1;
  });
  const answer = variedAnswers();
  const { url } = await serve({
    ...options,
    ...(redisUrl === null ? {} : { hub: redisHub({ url: redisUrl }) }),
    port,
    machine: conversationMachine({ policy: lastTurns(10) }),
    // No model answers before other work had its turn.
    llm: (call, context) => nextMacrotask().then(() => answer(call, context)),
  });
  process.on("message", () => {
    const facts: WorkerFacts = { micros: cpuMicros(), calls: { ...calls }, resident: process.memoryUsage().rss };
    process.send?.(facts);
  });
  // It keeps nothing, so there is nothing to be closed.
  process.on("disconnect", () => process.exit());
  process.send?.(url);
};

/** Returns the handler that a call is for. Its path is `/invoke/OBJECT/HANDLER`. */
const handlerIn = (started: unknown): string | null => {
  // As Node says what it publishes on this channel.
  const { headers } = started as { readonly headers: { readonly ":path"?: string } };
  const [, kind, , handler] = headers[":path"]?.split("/") ?? [];
  return kind === "invoke" ? (handler ?? null) : null;
};

// It is started by `engine-place.ts` alone.
await work(JSON.parse(process.argv[2] ?? "null") as EngineWorkerOptions);
