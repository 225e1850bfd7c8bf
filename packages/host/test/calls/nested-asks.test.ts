import type { CallLlm } from "@colloquy/machine";
import { expect, test } from "vitest";
import { type Hooks, type Host, limitCalls, type LlmOutcome, tool } from "@colloquy/host";
import { calls, says, stage } from "../stage.ts";

const ways = ["tool", "beforeTurn", "beforeStep", "beforeToolCall", "handler"] as const;

test.each(ways)("threads that ask others by a %s are answered when the model takes one call at a time", async (way) => {
  let host: Host | null = null;
  const called = { now: 0, most: 0 };
  const askNext = async (threadId: string): Promise<string> => {
    const [level = "0", name = ""] = threadId.split("-");
    return level === "2" ? "" : ((await host?.ask("go on", { threadId: `${Number(level) + 1}-${name}` }))?.text ?? "");
  };
  const next = tool({
    name: "next",
    description: "",
    input: { jsonSchema: { type: "object" } },
    run: (_, { threadId }) => (way === "tool" ? askNext(threadId) : ""),
  });
  const usesTools = way === "tool" || way === "beforeToolCall";
  const leaf = limitCalls(
    async ({ threadId, step }) => {
      called.most = Math.max(called.most, ++called.now);
      await new Promise((resolve) => setImmediate(resolve));
      called.now--;
      return usesTools && step === 1 ? calls(["next", {}]) : says(`answer of ${threadId}`);
    },
    { atOnce: 1 },
  );
  const step = async (call: CallLlm, context: Parameters<typeof leaf>[1]): Promise<LlmOutcome> => {
    if (way === "handler") await askNext(call.threadId);
    return leaf(call, context);
  };
  const hook = async ({ threadId }: { readonly threadId: string }): Promise<void> => void (await askNext(threadId));
  const hooks: Hooks = way.startsWith("before") ? { [way]: hook } : {};
  const staged = stage({ tools: [next], hooks, script: Array.from({ length: 200 }, () => step) });
  ({ host } = staged);
  const asked = Array.from({ length: 20 }, (_, index) => staged.host.ask("hi", { threadId: `0-${index}` }));
  const results = await Promise.all(asked);
  expect(results.map(({ text }) => text)).toEqual(asked.map(({ threadId }) => `answer of ${threadId}`));
  expect([called.most, staged.model.calls.length]).toEqual([1, 20 * 3 * (usesTools ? 2 : 1)]);
  await staged.host.close();
  expect([called.now, staged.clock.sleepers]).toEqual([0, 0]);
});
