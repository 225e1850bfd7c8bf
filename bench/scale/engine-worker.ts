// A worker of an engine in its own process, whose model answers at once. It reports its address, and its costs so far
// when the parent asks.
import { subscribe } from "node:diagnostics_channel";
import { setImmediate as nextMacrotask } from "node:timers/promises";

import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { serve } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";

import { cpuMicros } from "../kit/measure.ts";
import { variedAnswers } from "./engine-threads.ts";

export interface EngineWorkerOptions {
  readonly admin: string;
  /** The Redis of its hub; null for none. */
  readonly redisUrl: string | null;
  readonly snapshotEvery: number;
  readonly port?: number;
}

export interface WorkerFacts {
  readonly micros: number;
  /** The number of Restate's calls by handler. */
  readonly calls: Readonly<Record<string, number>>;
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
    // The model answers only after other work had its turn.
    llm: (call, context) => nextMacrotask().then(() => answer(call, context)),
  });
  process.on("message", () => {
    const facts: WorkerFacts = { micros: cpuMicros(), calls: { ...calls }, resident: process.memoryUsage().rss };
    process.send?.(facts);
  });
  // It keeps nothing, so nothing has to be closed.
  process.on("disconnect", () => process.exit());
  process.send?.(url);
};

/** Returns the handler that a call is for. Its path is `/invoke/OBJECT/HANDLER`. */
const handlerIn = (started: unknown): string | null => {
  // Cast: Node documents the messages of this channel so.
  const { headers } = started as { readonly headers: { readonly ":path"?: string } };
  const [, kind, , handler] = headers[":path"]?.split("/") ?? [];
  return kind === "invoke" ? (handler ?? null) : null;
};

// Cast: only `engine-place.ts` starts it.
await work(JSON.parse(process.argv[2] ?? "null") as EngineWorkerOptions);
