import { tool } from "@colloquy/host";
import { describe, expect, it } from "vitest";
import { never, reply, toolCalls } from "../../src/models/index.ts";
import { noFaults, type Script, simulate } from "../../src/simulate/index.ts";

// The mistakes that simulations have found, each as the shortest conversation that shows it.

const calls = (name: string, count: number) =>
  toolCalls(Array.from({ length: count }, () => ({ name, arguments: { about: "it" } })));

describe("a tool that runs one call at a time", () => {
  const script = (ran: string[]): Script => ({
    tools: [
      tool({
        name: "slow",
        description: "",
        input: { jsonSchema: { type: "object" } },
        concurrency: 1,
        run: async (_, { idempotencyKey, signal }) => {
          ran.push(idempotencyKey);
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
        },
      }),
    ],
    reply: ({ turn }) => (turn === 1 ? calls("slow", 3) : reply("Well.")),
    actions: [
      { type: "ask", input: "Go." },
      { type: "cancel", afterMs: 100 },
    ],
  });

  it("does not begin the next one when all are cancelled", async () => {
    const ran: string[] = [];
    await simulate({ seed: 1, script: script(ran), faults: "none" });
    expect(ran).toEqual(["simulated/1.1.0#1"]);
  });

  it("does not begin the next one when its host is closed", async () => {
    const ran: string[] = [];
    const { actions } = script(ran);
    const pause = { type: "pause", forMs: 2_000, afterMs: 50 } as const;
    await simulate({ seed: 1, script: { ...script(ran), actions: [...actions.slice(0, 1), pause] }, faults: "none" });
    expect(ran).toEqual(["simulated/1.1.0#1"]);
  });
});

it("an answer from outside to what is being done stops it, so that nothing runs beside the next call", async () => {
  const script: Script = {
    reply: ({ turn }) => (turn === 1 ? never({ pieces: ["Well"] }) : reply("Yes.")),
    actions: [
      { type: "ask", input: "Are you there?" },
      {
        type: "send",
        event: {
          type: "llm.completed",
          effectId: "simulated/1.1#1",
          reply: { content: "Well, so I am told." },
          finishReason: null,
        },
        afterMs: 30,
      },
      { type: "settle" },
    ],
  };
  const { trace } = await simulate({ seed: 1, script, faults: noFaults });
  expect(trace.join("\n")).toContain('answers ask-1: "Well, so I am told."');
});

it("a tool that takes too long is told to stop before the model is called again", async () => {
  const script: Script = {
    reply: ({ step }) => (step === 1 ? calls("search", 1) : reply("It takes too long.")),
    actions: [{ type: "ask", input: "Search." }, { type: "settle" }],
  };
  const { journal } = await simulate({ seed: 1, script, faults: { ...noFaults, toolNever: 1 } });
  expect(journal.map(({ event }) => event.type)).toContain("tool.failed");
});

describe("a store that is down when a thread is opened", () => {
  it("rejects asks with an error that a caller can tell from a mistake", async () => {
    const script: Script = {
      host: { whenHeld: "reject" },
      actions: [{ type: "ask", input: "Are you there?" }, { type: "settle" }],
    };
    const { trace } = await simulate({ seed: 5, script, faults: { ...noFaults, storeFails: 0.5 } });
    expect(trace.join("\n")).toMatch(/the store fails to acquire\n(.* holds .*\n)?.* answers ask-1: StoreError/u);
  });
});
