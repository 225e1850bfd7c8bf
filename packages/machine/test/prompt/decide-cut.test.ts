import { expect, test } from "vitest";
import { type Cut, keepAll, lastTurns, type Policy } from "../../src/policies.ts";
import { sameCut } from "../../src/prompt/decide-cut.ts";
import { CheckedTalk } from "../checked-talk.ts";

const cut: Cut = {
  policy: "own@1",
  interrupted: "keep",
  from: { turn: 3, unit: 1 },
  summarised: { from: 1, to: 2, upTo: 4 },
  dropped: ["3.1"],
  shrink: [{ rule: "headAndTail", of: "messages", characters: 300 }],
  fields: { omit: ["notes"] },
  system: "omit",
};

test("sameCut takes two equal cuts for the same, also if the counter was calibrated in between", () => {
  expect(sameCut(cut, cut)).toBe(true);
  expect(sameCut(cut, structuredClone(cut))).toBe(true);
  expect(sameCut(cut, { ...cut, calibration: 1.5 })).toBe(true);
  const all: Cut = { policy: "own@1", interrupted: "keep", from: null };
  expect(sameCut(all, { ...all })).toBe(true);
});

test.each<readonly [string, Partial<Cut>]>([
  ["another policy", { policy: "own@2" }],
  ["the interrupted turns", { interrupted: "omit" }],
  ["another turn", { from: { turn: 4, unit: 1 } }],
  ["another unit", { from: { turn: 3, unit: 2 } }],
  ["everything", { from: null }],
  ["summaries from another turn on", { summarised: { from: 0, to: 2, upTo: 4 } }],
  ["summaries up to another turn", { summarised: { from: 1, to: 1, upTo: 4 } }],
  ["newer summaries", { summarised: { from: 1, to: 2, upTo: 5 } }],
  ["another message", { dropped: ["3.2"] }],
  ["longer messages", { shrink: [{ rule: "headAndTail", of: "messages", characters: 301 }] }],
  ["other fields", { fields: { omit: ["question"] } }],
])("sameCut takes a cut with %s for another one", (_, other) => {
  expect(sameCut(cut, { ...cut, ...other })).toBe(false);
});

test("sameCut takes a cut with the system message for another one than a cut without it, and none for another", () => {
  const { system: _, ...withSystem } = cut;
  expect(sameCut(cut, withSystem)).toBe(false);
  expect(sameCut(null, cut)).toBe(false);
});

test("a prompt that shows everything because the policy failed is not reported as full", () => {
  const budget = { tokens: 1_000, reserve: 0 };
  let fails = false;
  const policy: Policy = {
    ...keepAll(),
    name: "failing",
    decide: (input) => {
      if (fails) throw new Error("no decision today");
      return lastTurns(0).decide(input);
    },
  };
  const talk = new CheckedTalk({ policy, budget });
  talk.say("One", "1");
  talk.say("Two", "2");
  fails = true;
  talk.ask("Three");
  expect(talk.sent()).toEqual(["One", "1", "Two", "2", "Three"]);
  expect(talk.told()).toContain("policy.failed");
  expect(talk.state.context.fullness).toBe("within");
});
