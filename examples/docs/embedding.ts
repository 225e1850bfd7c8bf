// Runs a thread on the host of embedder.ts in two processes; the first dies. docs/conversation.md shows the output.
import { setImmediate as nextRound } from "node:timers/promises";

import { declarationsOf, type LlmHandler, tool } from "@colloquy/host";
import { performerOf } from "@colloquy/host/perform";
import { conversationMachine, messagesOf, phaseOf, textOf } from "@colloquy/machine";
import { sqliteStore, systemClock } from "@colloquy/runtime-node";
import { z } from "zod";

import { openThread } from "./embedder.ts";

const store = sqliteStore({ path: ":memory:" });

/** Makes a process of a model and a tool that must not run twice. */
const processWith = (llm: LlmHandler, charge: () => Promise<string>) => {
  const run = tool({
    name: "charge",
    description: "Charges the customer.",
    input: z.object({ amount: z.number().positive() }),
    recovery: "once",
    run: charge,
  });
  const machine = conversationMachine({ tools: declarationsOf([run]) });
  return performerOf({ machine, llm, tools: [run], clock: systemClock });
};

// The first process takes a question, and dies while its tool runs.
const charging = Promise.withResolvers<void>();
const first = processWith(
  async () => ({
    type: "completed",
    reply: { toolCalls: [{ id: "1", name: "charge", arguments: '{"amount":12}' }] },
    finishReason: "tool_calls",
  }),
  () => {
    console.log("1: charges");
    charging.resolve();
    return new Promise(() => {});
  },
);
const thread = await openThread(store, first, "ada", "worker-1");
await thread?.enqueue({ type: "ask.received", askId: "a", input: "Charge me 12.", at: Date.now() });
await charging.promise;

// The second process has the same name, so it gets the lease at once. It does not repeat the tool: the model reads why.
const second = processWith(
  async ({ messages }) => {
    console.log(`2: the model reads: ${messages.map(textOf).at(-1)?.split(":")[0]}`);
    return { type: "completed", reply: { content: "I do not know whether it worked." }, finishReason: "stop" };
  },
  async () => "charged twice",
);
const next = await openThread(store, second, "ada", "worker-1");
for (let state = next?.state() ?? null; state !== null; state = next?.state() ?? null) {
  if (phaseOf(state) === "completed") {
    console.log(messagesOf(state).map(textOf).at(-1));
    break;
  }
  await nextRound();
}
await next?.close();
await store.close();
