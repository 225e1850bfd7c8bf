import {
  AskReturnedError,
  AskSupersededError,
  ContextUnfitError,
  LimitReachedError,
  OutputError,
  TurnCancelledError,
  TurnError,
  TurnFailedError,
} from "@colloquy/host";
import { usageMonoid } from "@colloquy/machine";
import { expect, test } from "vitest";

const summary = { threadId: "t", askId: "a", turn: null, text: "", messages: [], usage: usageMonoid.empty };

test.each<[string, Error, string]>([
  ["was superseded by an ask that is known", new AskSupersededError(summary, "b"), 'ask "b" took its place'],
  [
    "was superseded by an ask that is no longer known",
    new AskSupersededError(summary, null),
    "another ask took its place",
  ],
  ["joined a turn that is known", new AskReturnedError(summary, 3), "it joined turn 3, which ended"],
  ["joined a turn that is no longer known", new AskReturnedError(summary, null), "it joined a turn, which ended"],
  ["was cancelled for a reason", new TurnCancelledError(summary, "enough"), "cancelled: enough"],
  ["was cancelled without a reason", new TurnCancelledError(summary, null), "cancelled"],
])("the error of an ask that %s says so", (_, { message }, words) => {
  expect(message.startsWith(`thread "t", ask "a": ${words}`)).toBe(true);
  expect(message).not.toContain("null");
});

test.each([
  ["steps", 'the limit "steps" ended the turn: 3 needed, 2 allowed'],
  ["toolCalls", 'the limit "toolCalls" ended the turn: 3 needed, 2 allowed'],
  ["tokens", 'the limit "tokens" ended the turn: 3 used, 2 allowed'],
  ["costNano", 'the limit "costNano" ended the turn: 3 spent, 2 allowed'],
  ["deadlineMs", 'the limit "deadlineMs" ended the turn: 3 passed, 2 allowed'],
] as const)("the error of a turn that the limit %s ended says and holds how far the turn came", (limit, words) => {
  const error = new LimitReachedError({ ...summary, turn: 1 }, { limit, allowed: 2, reached: 3 });
  expect(error.message).toBe(`thread "t", turn 1: ${words}`);
  expect(error.reached).toEqual({ limit, allowed: 2, reached: 3 });
});

test("the errors of an ask hold the reason that they say, and the content of the turn", () => {
  const failure = { kind: "overloaded", message: "busy", retryable: true } as const;
  const invalid = { kind: "invalid", message: "no number" } as const;
  const errors = [
    new TurnFailedError(summary, failure),
    new OutputError(summary, invalid, [{ message: "no number" }], "one"),
    new TurnCancelledError(summary, "enough"),
    new AskSupersededError(summary, "b"),
    new AskReturnedError(summary, 3),
  ];
  expect(errors).toMatchObject([
    { name: "TurnFailedError", failure },
    { name: "OutputError", failure: invalid, issues: [{ message: "no number" }], text: "one" },
    { name: "TurnCancelledError", reason: "enough" },
    { name: "AskSupersededError", by: "b" },
    { name: "AskReturnedError", joined: 3 },
  ]);
  for (const error of errors) {
    expect(error).toBeInstanceOf(TurnError);
    expect(error.summary).toBe(summary);
  }
});

test.each([
  ["which is half of what must be shown, and the rest fits", 1_200, 600, 600, true],
  ["which is less than half of what must be shown", 1_201, 600, 1_000, false],
  ["without which the rest does not fit either", 1_300, 600, 650, false],
  ["without which the rest takes one token too many", 1_200, 600, 599, false],
] as const)("an overflow names the largest message, %s", (_, fixed, tokens, available, isBlamed) => {
  const unfit = { tokens: 2_000, available, budget: available + 10, reserve: 10, fixed };
  const { message } = new ContextUnfitError({ ...summary, turn: 1 }, { ...unfit, largest: { message: "m1", tokens } });
  expect(message).toContain(`the largest message of the turn, m1, takes ${tokens}`);
  expect(message.includes("a policy that shortens what is too long")).toBe(isBlamed);
  expect(message.includes("the thread a shorter system prompt")).toBe(!isBlamed);
});

test.each([
  [100, true],
  [101, false],
])("an overflow blames the policy if what must be shown, %i tokens of 100, fits", (fixed, isPolicy) => {
  const unfit = { tokens: 200, available: 100, budget: 110, reserve: 10, fixed, largest: null };
  const { message } = new ContextUnfitError({ ...summary, turn: 1 }, unfit);
  expect(message).toContain("there is room for 100 tokens (a budget of 110, of which 10 are left free for the answer)");
  expect(message.includes(`the policy shows more than it must: ${fixed} would do. `)).toBe(isPolicy);
  expect(message).not.toContain("the largest message of the turn,");
});
