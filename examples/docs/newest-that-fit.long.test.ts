import { conversationMachine, promptOf, start, textOf, transition } from "@colloquy/machine";
import { checkMachineLaws, checkPolicyLaws } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";
import { newestThatFit } from "./newest-that-fit.ts";

test("it shows the newest turns, as many as fit", () => {
  const machine = conversationMachine({ policy: newestThatFit(), budget: { tokens: 50, reserve: 20 } });
  let { state } = transition(machine, start(machine, { threadId: "t", at: 0 }).state, {
    type: "turn.added",
    messages: [{ role: "user", content: "An old and long remark, of which each and every word takes up some room." }],
    at: 1,
  });
  for (const content of ["One?", "Two?"]) {
    ({ state } = transition(machine, state, { type: "turn.added", messages: [{ role: "user", content }], at: 2 }));
  }

  const { messages, cut, reason } = promptOf(machine, state);

  expect(messages.map(textOf)).toEqual(["One?", "Two?"]);
  expect(cut.from).toEqual({ turn: 2, unit: 0 });
  expect(reason).toBe("turn 1 is too much");
});

test("it keeps the laws of the machine", () => {
  checkMachineLaws({ policy: newestThatFit(), budget: { tokens: 200, reserve: 50 } }, { runs: 50 });
});

test("it keeps the laws of pruning, and makes room", () => {
  checkPolicyLaws(newestThatFit(), { makesRoom: true });
});
