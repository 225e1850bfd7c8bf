import { conversationMachine, type Event, phaseOf } from "@colloquy/machine";
import { absent, anything, scenario, ScenarioError, type Then } from "@colloquy/runtime-test";
import { describe, expect, test } from "vitest";

const machine = conversationMachine({ tools: [{ name: "search" }] });
const ask: Event = { type: "ask.received", at: 1, askId: "a", input: "Hello" };
const answer: Event = {
  type: "llm.completed",
  at: 2,
  effectId: "t/1.1#1",
  reply: { content: "Hi." },
  finishReason: "stop",
};

/** The expected result of an answer. */
const completed: Then = {
  phase: "completed",
  effects: [
    { type: "publish", signal: { type: "model.replied", finishReason: "stop" } },
    { type: "publish", signal: { type: "turn.ended", turn: 1, status: "completed" } },
    { type: "publish", signal: { type: "thread.updated", turns: 1, messages: 2, characters: 8 } },
  ],
  changes: {
    open: null,
    usage: { total: anything },
    conversation: {
      head: 1,
      turns: [
        {
          number: 1,
          parent: 0,
          asks: [{ askId: "a", askedAt: 1 }],
          outcome: { status: "completed", finishReason: "stop" },
          messages: [
            { id: "1.0", role: "user", parts: [{ type: "text", text: "Hello" }] },
            { id: "1.1", role: "assistant", parts: [{ type: "text", text: "Hi." }] },
          ],
          usage: anything,
          steps: 1,
          toolCalls: 0,
          startedAt: 1,
          endedAt: 2,
          answer: "1.1",
          place: { turns: 1, messages: 2, characters: 8, straightFrom: 1 },
        },
      ],
    },
  },
};

const failing = (then: Then, when: readonly Event[] = [answer]): string => {
  try {
    scenario({ machine, events: [ask] }, when, then);
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
  throw new Error("the scenario came out as it was said");
};

describe("scenario", () => {
  test("passes when all that happens is said, and gives the state", () => {
    expect(phaseOf(scenario({ machine, events: [ask] }, [answer], completed))).toBe("completed");
  });

  test("nothing happens: nothing is to be said but how it was refused", () => {
    const stale: Event = { ...answer, effectId: "t/9.9#1" };
    const state = scenario({ machine, events: [ask] }, [stale], {
      phase: "awaiting_llm",
      effects: [],
      changes: {},
      refusals: ["stale"],
    });
    expect(state.context.seq).toBe(1);
  });

  test.each<readonly [string, Partial<Then>, RegExp]>([
    ["another phase", { phase: "error" }, /phase: expected "error", got "completed"/],
    ["an effect too few", { effects: [] }, /effects\.1: not mentioned: .*turn\.ended/],
    [
      "an effect too many",
      { effects: [...completed.effects, { type: "callLlm" }] },
      /effects\.3: missing: \{"type":"callLlm"\}/,
    ],
    [
      "another effect",
      { effects: [{ type: "publish", signal: { turn: 2 } }] },
      /effects\.0\.signal\.turn: expected 2, got 1/,
    ],
    ["a refusal that does not come", { refusals: ["busy"] }, /refusals: expected "busy", got ""/],
    ["a change that is not said", { changes: { ...completed.changes, open: undefined } }, /open.*: not mentioned/],
    ["a change that does not come", { changes: { ...completed.changes, cut: null } }, /cut: expected null, stays \{/],
    [
      "a change to something else",
      { changes: { ...completed.changes, open: { number: 2 } } },
      /open: expected \{"number":2\}, is null/,
    ],
    [
      "something that should be gone",
      { changes: { ...completed.changes, threadId: absent } },
      /threadId: expected to be gone, is "t"/,
    ],
    [
      "something that should have changed",
      { changes: { ...completed.changes, queue: anything } },
      /queue: expected to change, and stays \[\]/,
    ],
  ])("fails for %s", (_, changes, words) => {
    expect(failing({ ...completed, ...changes })).toMatch(words);
  });

  test("fails for a leaf of something new that is not said, and names it", () => {
    const message = failing({ phase: "awaiting_llm", effects: [], changes: { conversation: { appended: [] } } }, [
      { type: "message.appended", at: 2, message: { role: "user", content: "More" } },
    ]);
    expect(message).toMatch(/open\.waiting\.0.*not mentioned/);
    expect(message).toMatch(/open\.made: not mentioned: was 1, is 2/);
  });

  test("lists every difference", () => {
    expect(failing({ phase: "error", effects: [], changes: {} }).split("\n").length).toBeGreaterThan(5);
  });

  test("what was told before must be handled", () => {
    expect(() => scenario({ machine, events: [answer] }, [], completed)).toThrow(
      /event 0 .*llm\.completed.* was refused/,
    );
  });
});
