import { AskReturnedError, AskSupersededError, TurnCancelledError } from "@colloquy/host";
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
