import { expect, test } from "vitest";
import type { ContentPart, LaterEntry } from "../../src/index.ts";
import type { Decided } from "../../src/conversation/protocol/entry.ts";
import {
  decisionDifference,
  withoutCuts,
  withoutPrompts,
  withoutWords,
} from "../../src/inspect/decision-difference.ts";

/** The reply of a model that calls two tools. */
const calls: LaterEntry = {
  seq: 2,
  event: {
    type: "llm.completed",
    at: 1,
    effectId: "t/1.1#1",
    finishReason: "stop",
    reply: { toolCalls: ["look", "pay"].map((name) => ({ id: name, name, arguments: "{}" })) },
  },
};

const unfit = { tokens: 9, available: 5, budget: 5, reserve: 0, fixed: 4, largest: null } as const;

const result = (position: number, ...content: readonly ContentPart[]) =>
  ({ position, outcome: "refused", content }) as const;

test.each<readonly [string, Decided, Decided, object]>([
  [
    "a call that was run and is answered now",
    {},
    {
      results: [
        result(0, { type: "text", text: "No." }, { type: "image", url: "x" }, { type: "text", text: "Never." }),
      ],
    },
    { what: 'call of "look"', expected: "run", got: "it is answered without running (No. image Never.)" },
  ],
  [
    "a call that was answered without words and is run now",
    { results: [result(1)] },
    {},
    { what: 'call of "pay"', expected: "answered without running", got: "it is run" },
  ],
  [
    "a call that was held and is run now",
    { approvals: [1] },
    {},
    { what: 'call of "pay"', expected: "held for an approval", got: "it is run" },
  ],
  [
    "a turn that ended and continues",
    { limit: { limit: "steps", allowed: 1, reached: 2 } },
    {},
    { what: "the turn", expected: "ended: the limit of steps, 1, is reached", got: "it continues" },
  ],
  [
    "a turn that continued and ends",
    {},
    { unfit },
    { what: "the turn", expected: "continued", got: "it ends: its prompt does not fit: 9 tokens of 5" },
  ],
  [
    "members that differ, and not those that are the same",
    { deadlineAt: 5, opens: 2, kept: 1 },
    { deadlineAt: 6, opens: 2, queued: 1 },
    {
      what: 'what "llm.completed" decided',
      expected: '{"deadlineAt":5,"kept":1}',
      got: '{"deadlineAt":6,"queued":1}',
    },
  ],
])("decisionDifference describes %s", (_, was, now, difference) => {
  expect(decisionDifference(calls, was, now)).toEqual(difference);
});

test("decisionDifference finds none between decisions with the same members in another order", () => {
  expect(decisionDifference(calls, { queued: 1, opens: 2 }, { opens: 2, queued: 1 })).toBeNull();
});

test("decisionDifference describes the members of an event that is not a reply, although calls differ in it", () => {
  const entry: LaterEntry = { seq: 1, event: { type: "cancel.requested", at: 1 } };
  expect(decisionDifference(entry, { approvals: [0] }, {})).toEqual({
    what: 'what "cancel.requested" decided',
    expected: '{"approvals":[0]}',
    got: "{}",
  });
});

/** A decision with a member of each kind, and one of a later version. */
const decided = {
  cut: { policy: "keep-all@1", from: null, interrupted: "keep" },
  room: 5,
  counted: 7,
  summary: { covers: { from: 1, to: 1 }, earlier: null },
  policyFailed: "no decision today",
  kept: 3,
  unfit,
  compacting: { dueAt: 9 },
  results: [result(0, { type: "text", text: "secret" })],
  deadlineAt: 5,
  later: true,
} as const satisfies Decided & { readonly later: true };

test("withoutCuts removes how prompts are cut and counted, and the reason why a policy failed", () => {
  const { cut: _, room: __, counted: ___, ...others } = decided;
  expect(withoutCuts(decided)).toEqual({ ...others, policyFailed: "" });
  expect(withoutCuts({ kept: 3, room: 5 })).toEqual({ kept: 3 });
});

test("withoutPrompts removes all about prompts, and withoutWords also all about words", () => {
  const { kept, compacting, results, deadlineAt, later } = decided;
  expect(withoutPrompts(decided)).toEqual({ kept, unfit, compacting, results, deadlineAt, later });
  expect(withoutPrompts()).toEqual({});
  expect(withoutWords(decided)).toEqual({ deadlineAt, later, results: [{ ...results[0], content: [] }] });
  expect(withoutWords({ deadlineAt })).toEqual({ deadlineAt });
});
