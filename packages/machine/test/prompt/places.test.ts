import { seedArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { conversationMachine, type MachineOptions, messagesOf, promptOf } from "../../src/index.ts";
import { type Cut, keepAll, type Policy, type PolicyDecision, unitsOf } from "../../src/policies.ts";
import { hasUnit } from "../../src/prompt/unit.ts";
import { runs } from "../runs.ts";
import { Talk } from "../talk.ts";

// A decision may only name positions and ids of the thread; any other is a mistake of the policy.

const deciding = (decision: Omit<PolicyDecision, "reason">): Policy => ({
  ...keepAll(),
  name: "pointing",
  decide: () => ({ ...decision, reason: "as told" }),
});

/** Plays a seed, a turn with a round of two calls, an undone turn, and an open one with a round. */
const talked = (): Talk => {
  const options: MachineOptions = { tools: [{ name: "search" }] };
  const talk = new Talk(conversationMachine(options), {
    system: "Be brief.",
    seed: [{ role: "user", content: "Before." }],
  });
  const call = { id: "c", name: "search", arguments: "{}" };
  talk.ask("One");
  talk.reply({ toolCalls: [call, call] });
  talk.result(0, "found");
  talk.result(1, "found");
  talk.reply("One!");
  talk.ask("Two");
  talk.reply("Two!");
  talk.tell({ type: "head.moved", to: 1 });
  talk.ask("Three");
  talk.reply({ toolCalls: [call] });
  return talk;
};

const failedOf = (decision: Omit<PolicyDecision, "reason">): string | undefined =>
  promptOf(conversationMachine({ policy: deciding(decision) }), talked().state).failed;

const clear = { rule: "clear", of: "toolResults", characters: 200 } as const;

test.each<readonly [string, Omit<PolicyDecision, "reason">]>([
  ["the seed", { from: { turn: 0, unit: 0 } }],
  ["a unit", { from: { turn: 1, unit: 2 } }],
  ["a turn of a branch that was left", { from: { turn: 2, unit: 1 } }],
  ["behind all turns that have ended", { from: { turn: 3, unit: 0 } }],
  ["behind all turns, those to come included", { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 } }],
  ["a round of the open turn", { from: null, shrink: [{ ...clear, before: { turn: 3, unit: 1 } }] }],
  ["the id of a unit", { from: null, dropped: ["0.0", "1.0", "1.1", "1.2"] }],
  ["the id of a unit of a branch that was left", { from: null, dropped: ["2.1"] }],
  ["ids that a policy may not drop", { from: null, dropped: ["s1", "3.0"] }],
])("a place that the thread has is taken: %s", (_, decision) => {
  expect(failedOf(decision)).toBeUndefined();
});

describe("a place that the thread does not have", () => {
  const behind = "the thread has 2 turns that have ended; behind all of them is turn 3, unit 0";

  test.each<readonly [string, Omit<PolicyDecision, "reason">, string]>([
    ["a turn", { from: { turn: 4, unit: 0 } }, `from is {"turn":4,"unit":0}, and ${behind}`],
    ["a unit", { from: { turn: 1, unit: 3 } }, `from is {"turn":1,"unit":3}, and turn 1 has 3 units`],
    ["a unit of the seed", { from: { turn: 0, unit: 1 } }, "turn 0 has 1 unit"],
    ["a unit of the open turn", { from: { turn: 3, unit: 2 } }, "turn 3 has 2 units"],
    ["a unit behind all", { from: { turn: Number.MAX_SAFE_INTEGER, unit: 1 } }, behind],
    [
      "where a rule ends",
      { from: null, shrink: [{ ...clear, before: { turn: 9, unit: 0 } }] },
      `shrink has a rule before {"turn":9,"unit":0}, and ${behind}`,
    ],
    ["an id", { from: null, dropped: ["1.0", "99.99"] }, `dropped has "99.99", which is the id of no unit`],
    ["an id that is none", { from: null, dropped: ["nobody"] }, `dropped has "nobody"`],
    ["the id of a result in a round", { from: null, dropped: ["1.1.0"] }, `dropped has "1.1.0"`],
    ["a system message that was replaced", { from: null, dropped: ["s0"] }, `dropped has "s0"`],
  ])("is refused, and all is kept: %s", (_, decision, words) => {
    expect(failedOf(decision)).toContain(words);
  });

  test("stands where the last cut pointed to it: a copy of the thread may have left an open turn behind", () => {
    const before = { turn: 3, unit: 7 };
    const machine = conversationMachine({ policy: deciding({ from: null, shrink: [{ ...clear, before }] }) });
    const { state } = talked();
    const cut: Cut = { policy: "pointing@1", from: null, interrupted: "keep", shrink: [{ ...clear, before }] };

    expect(promptOf(machine, state).failed).toContain("turn 3 has 2 units");
    expect(promptOf(machine, { ...state, context: { ...state.context, cut } }).failed).toBeUndefined();
  });
});

test("unitsOf ends a round with its last result, so one result too many is a unit of its own", () => {
  const messages = messagesOf(talked().state).slice(1, 5);
  const more = messages.slice(-1).map((result) => ({ ...result, id: "more" }));
  expect(unitsOf(1, [...messages, ...more]).map(({ id }) => id)).toEqual(["1.0", "1.1", "more"]);
});

test("whether messages have a unit is known without making units", () => {
  fc.assert(
    fc.property(seedArbitrary(["search"]), (seed) => {
      const { state } = new Talk(conversationMachine(), { seed });
      const messages = state.context.conversation.seed;
      const units = unitsOf(0, messages);
      for (let position = 0; position <= messages.length; position++)
        expect(hasUnit(messages, position)).toBe(position < units.length);
    }),
    { numRuns: runs(100) },
  );
});
