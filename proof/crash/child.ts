// A process that holds the conversation on a SQLite file, until it is done or killed. Started by `run.ts`.
import { setTimeout as delay } from "node:timers/promises";

import { type LlmHandler, StoreError, ThreadHeldError, type ToolCall } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import { checkPrompt } from "@colloquy/machine/policies";
import { randomIds, sqliteStore, systemClock } from "@colloquy/runtime-node";

import { asks, hostOf, outcomeOf, summariesWritten, threadId, toolsOf } from "./conversation.ts";
import type { Fault } from "./faults.ts";
import { randomOf } from "../kit/random.ts";
import { recorderOf } from "./records.ts";
import { watchedStore } from "./watched-store.ts";

/** The options of a child, as JSON in its first argument. */
export interface ChildOptions {
  readonly database: string;
  readonly records: string;
  /** How often it was started before. */
  readonly boot: number;
  readonly seed: number;
  /** At which point of its work it kills itself, counted from 1; null for never. */
  readonly diesAt: number | null;
  readonly synchronous: "NORMAL" | "FULL";
  readonly fault: Fault | null;
}

/** The exit code of a child that lost its lease, as happens to one that was kept waiting for too long. */
export const leaseLostCode = 75;

const main = async (options: ChildOptions): Promise<void> => {
  const { seed, boot, fault } = options;
  const random = randomOf(seed);
  const record = recorderOf(options.records, boot);
  let points = 0;
  /** Somewhere to die. */
  const point = (): void => {
    points += 1;
    if (points === options.diesAt) process.kill(process.pid, "SIGKILL");
  };
  const inner = sqliteStore({ path: options.database, synchronous: options.synchronous });
  const store = watchedStore(inner, { point, record, fault });
  const breathe = (): Promise<void> => delay(random.integer(0, 2));
  const llm: LlmHandler = async (call, { onDelta }) => {
    const messages = fault === "malformed-prompt" ? withoutLastResult(call.messages) : call.messages;
    const problem = checkPrompt(messages);
    if (problem !== null) record({ type: "malformed", effectId: call.id, reason: problem.reason });
    record({ type: "performed", effectId: call.id, seq: store.newestSeq, promptDigest: call.promptDigest });
    point();
    await breathe();
    const outcome = outcomeOf(call);
    if (outcome.type === "completed" && typeof outcome.reply.content === "string") {
      for (const text of outcome.reply.content.split(/(?<= )/)) onDelta({ type: "text", text });
    }
    point();
    await breathe();
    return outcome;
  };
  const run = async (name: string, { idempotencyKey }: ToolCall): Promise<string> => {
    record({ type: "performed", effectId: idempotencyKey, seq: store.newestSeq });
    point();
    await breathe();
    record({ type: "effect", tool: name, key: idempotencyKey });
    point();
    await breathe();
    return `${name} done`;
  };
  const overrule = fault === "interrupted-runs-again" ? ({ notify: "rerun" } as const) : {};
  const host = hostOf({
    store,
    llm,
    clock: systemClock,
    ids: randomIds,
    tools: toolsOf(run, overrule),
  });
  process.stdout.write("ready\n");
  for (const askId of asks) {
    const { text } = await answered(() => host.ask(askId, { threadId, askId }));
    record({ type: "answered", askId, text });
    await summariesWritten(host);
  }
  await host.close();
  await store.close();
};

/** Asks until the thread is free: the lease of a child that was killed runs out by itself. */
const answered = async <A>(ask: () => PromiseLike<A>): Promise<A> => {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ThreadHeldError)) throw error;
      await delay(10);
    }
  }
};

const withoutLastResult = <A extends { readonly role: string }>(messages: readonly A[]): readonly A[] =>
  messages.at(-1)?.role === "tool" ? messages.slice(0, -1) : messages;

const lostLease = (error: unknown): boolean =>
  error instanceof LeaseLostError || (error instanceof StoreError && error.cause instanceof LeaseLostError);

if (import.meta.main) {
  try {
    await main(JSON.parse(process.argv[2] ?? "") as ChildOptions);
  } catch (error) {
    if (lostLease(error)) process.exit(leaseLostCode);
    console.error(error);
    process.exit(1);
  }
}
