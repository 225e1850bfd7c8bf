// A scenario: events and all their results. docs/testing.md shows it.
import { conversationMachine, type Event } from "@colloquy/machine";
import { anything, scenario } from "@colloquy/runtime-test";
import { expect, test } from "vitest";

const machine = conversationMachine({ limits: { steps: 1 } });
const asked: Event = { type: "ask.received", askId: "a", input: "Add 2 and 3.", at: 1 };
const called: Event = {
  type: "llm.completed",
  effectId: "t/1.1#1",
  reply: { toolCalls: [{ id: "call_1", name: "add", arguments: "[2,3]" }] },
  finishReason: "tool_calls",
  at: 2,
};

test("a limit of one step ends the turn before the second", () => {
  scenario({ machine, events: [asked] }, [called], {
    phase: "error",
    effects: [
      { type: "publish", signal: { type: "model.replied", toolCalls: 1 } },
      { type: "publish", signal: { type: "tool.ended", name: "add", outcome: "refused" } },
      { type: "publish", signal: { type: "limit.reached", reached: { limit: "steps", allowed: 1, reached: 2 } } },
      { type: "publish", signal: { type: "turn.ended", status: "failed" } },
      { type: "publish", signal: { type: "thread.updated", turns: 1, messages: 3 } },
    ],
    changes: { conversation: anything, open: anything, usage: anything },
  });
});

test("a result that the scenario does not mention is an error", () => {
  const silent = () => scenario({ machine, events: [asked] }, [called], { phase: "error", effects: [], changes: {} });
  expect(silent).toThrow(/effects\.0: not mentioned/);
});
