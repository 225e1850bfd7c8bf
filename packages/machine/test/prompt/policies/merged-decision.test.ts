import { expect, test } from "vitest";
import {
  isEverything,
  mergedDecision,
  type Shown,
  showsTheSame,
} from "../../../src/prompt/policies/merged-decision.ts";
import type { Shrink } from "../../../src/prompt/shrink.ts";

const rule: Shrink = { rule: "headAndTail", of: "messages", characters: 300 };
const before = (turn: number): Shrink => ({ ...rule, before: { turn, unit: 0 } });
const summarised = { from: 1, to: 2 };

test.each<readonly [string, Omit<Shown, "from">, Omit<Shown, "from">, Omit<Shown, "from">]>([
  ["nothing more than either", {}, {}, {}],
  ["all dropped units", { dropped: ["1.0"] }, { dropped: ["2.0"] }, { dropped: ["1.0", "2.0"] }],
  ["no empty lists", { dropped: [], shrink: [] }, { dropped: [], shrink: [] }, {}],
  ["the summaries of the first", { summarised }, {}, { summarised }],
  ["the summaries of the second", { summarised: { from: 1, to: 1 } }, { summarised }, { summarised }],
  ["no system message, by the first", { system: "omit" }, {}, { system: "omit" }],
  ["no system message, by the second", {}, { system: "omit" }, { system: "omit" }],
  ["that the first was pressed", { pressed: true }, { pressed: false }, { pressed: true }],
  ["that the second was pressed", {}, { pressed: true }, { pressed: true }],
  ["nothing of a false pressed", { pressed: false }, { pressed: false }, {}],
  ["the fields of the first", { fields: { omit: ["a"] } }, {}, { fields: { omit: ["a"] } }],
  ["the fields of the second", {}, { fields: { inputs: ["a"] } }, { fields: { inputs: ["a"] } }],
  [
    "none of the fields that either omits",
    { fields: { omit: ["a", "b"] } },
    { fields: { omit: ["b", "c"] } },
    { fields: { omit: ["a", "b", "c"] } },
  ],
  [
    "the inputs that both show",
    { fields: { inputs: ["a", "b"] } },
    { fields: { inputs: ["b", "c"] } },
    { fields: { inputs: ["b"] } },
  ],
  [
    "the inputs of one and without those that the other omits",
    { fields: { inputs: ["a"] } },
    { fields: { omit: ["b"] } },
    { fields: { omit: ["b"], inputs: ["a"] } },
  ],
  ["a repeated rule once", { shrink: [rule] }, { shrink: [rule] }, { shrink: [rule] }],
  ["a rule once that reaches less far", { shrink: [before(5)] }, { shrink: [before(4)] }, { shrink: [before(5)] }],
  ["a rule once that reaches as far", { shrink: [before(5)] }, { shrink: [before(5)] }, { shrink: [before(5)] }],
  ["the one that reaches further", { shrink: [before(4)] }, { shrink: [before(5)] }, { shrink: [before(5)] }],
  ["the one that reaches everything", { shrink: [before(4)] }, { shrink: [rule] }, { shrink: [rule] }],
  ["the one that reached everything", { shrink: [rule] }, { shrink: [before(4)] }, { shrink: [rule] }],
  [
    "a repeated rule where it comes first, if another one is between",
    { shrink: [rule, { ...rule, of: "toolResults" }] },
    { shrink: [rule] },
    { shrink: [rule, { ...rule, of: "toolResults" }] },
  ],
  ...[{ rule: "reference" }, { of: "toolResults" }, { characters: 301 }, { tool: "read" }].map((other) => {
    // Each member is one of a rule.
    const second = { ...rule, ...other } as Shrink;
    return [
      `both rules that differ in ${Object.keys(other)[0]}`,
      { shrink: [rule] },
      { shrink: [second] },
      { shrink: [rule, second] },
    ] as const;
  }),
])("mergedDecision shows %s", (_, first, second, merged) => {
  expect(mergedDecision({ from: null, ...first }, { from: null, ...second })).toEqual({ from: null, ...merged });
});

test("mergedDecision starts where the second one does if that is newer, and else where the first one does", () => {
  const [older, newer] = [
    { turn: 2, unit: 1 },
    { turn: 2, unit: 2 },
  ] as const;
  expect(mergedDecision({ from: older }, { from: newer })).toEqual({ from: newer });
  expect(mergedDecision({ from: newer }, { from: older })).toEqual({ from: newer });
  expect(mergedDecision({ from: newer }, { from: null })).toEqual({ from: newer });
});

test.each<readonly [string, Shown]>([
  ["a turn", { from: { turn: 2, unit: 0 } }],
  ["a unit", { from: { turn: 1, unit: 1 } }],
  ["a dropped message", { from: null, dropped: ["1.0"] }],
  ["a summary from a turn on", { from: null, summarised }],
  ["a summary up to a turn", { from: null, summarised: { from: 1, to: 3 } }],
  ["a rule", { from: null, shrink: [rule] }],
  ["a rule up to a turn", { from: null, shrink: [before(2)] }],
  ["a rule up to a unit", { from: null, shrink: [{ ...rule, before: { turn: 2, unit: 1 } }] }],
  ["omitted fields", { from: null, fields: { omit: ["a"] } }],
  ["shown inputs", { from: null, fields: { inputs: ["a"] } }],
  ["an omitted system message", { from: null, system: "omit" }],
])("a decision with %s shows the same as an equal one, and not everything", (_, shown) => {
  expect(showsTheSame(shown, structuredClone(shown))).toBe(true);
  expect(showsTheSame(shown, { from: null })).toBe(false);
  expect(isEverything(shown)).toBe(false);
});

test("a decision that leaves out nothing shows everything, whether it was pressed or not", () => {
  expect(isEverything({ from: null, pressed: true })).toBe(true);
  expect(showsTheSame({ from: null, dropped: [], shrink: [], pressed: true }, { from: null })).toBe(true);
});
