// A simulated conversation, with faults. docs/testing.md shows it.
import { createHost } from "@colloquy/host";
import { reply, toolCalls } from "@colloquy/runtime-test/models";
import { simulate, SimulationError } from "@colloquy/runtime-test/simulate";
import { expect, test } from "vitest";

test.each([1, 2, 3])("the payment is made at most once under any fault (seed %i)", async (seed) => {
  const { journal, counts } = await simulate({
    seed,
    script: {
      actions: [{ type: "ask", input: "Pay the bill." }, { type: "crash", afterMs: 5 }, { type: "settle" }],
      reply: ({ messages }) =>
        messages.some(({ role }) => role === "tool")
          ? reply("Done, or not: I can tell.")
          : toolCalls([{ name: "pay", arguments: { amount: 3 } }]),
    },
    faults: { crash: 0.05, appendUnacknowledged: 0.05 },
  });

  expect(journal.length).toBeGreaterThan(3);
  expect(counts.processes).toBeGreaterThan(1);
});

test("the simulation finds a host whose prompt is not the journalled one", async () => {
  const forgetful = simulate({
    seed: 1,
    faults: "none",
    createHost: (options) =>
      createHost({
        ...options,
        llm: (call, context) => options.llm({ ...call, messages: call.messages.slice(-1) }, context),
      }),
  });
  await expect(forgetful).rejects.toThrow(SimulationError);
  await expect(forgetful).rejects.toThrow(/pnpm simulate --runs 1 --seed 1/);
});
