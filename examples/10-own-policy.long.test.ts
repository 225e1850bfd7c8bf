// A policy of one's own: a value that says what a prompt shows. docs/prompts.md is the guide; one line holds it to the laws.
import { conversationMachine, promptOf, start, textOf, transition } from "@colloquy/machine";
import { explain } from "@colloquy/machine/inspect";
import type { Policy } from "@colloquy/machine/policies";
import { checkPolicyLaws } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

/** Of the last turns it leaves out those that were marked as small talk when they were asked; older ones are all left out. */
const withoutSmallTalk = (turns: number): Policy => ({
  name: "without-small-talk",
  version: 1,
  options: { turns },
  monotone: true,
  stable: false,
  decide: ({ history }) => {
    const dropped: string[] = [];
    let seen = 0;
    for (const turn of history.newestFirst()) {
      if (++seen > turns)
        return { from: { turn: turn.number + 1, unit: 0 }, dropped, reason: `older than ${turns} turns` };
      const units = turn.units();
      const isSmallTalk = units.some(({ messages: [first] }) => first?.metadata?.["smallTalk"] === true);
      if (isSmallTalk) dropped.push(...units.map(({ id }) => id));
    }
    return { from: null, dropped, reason: "small talk" };
  },
});

test("it keeps the laws", () => {
  // Checks the claims that it leaves open too. It leaves out what is newer than other turns (P11), and makes no room (P4).
  checkPolicyLaws(withoutSmallTalk(5), { claims: "all", except: ["P4", "P11"] });
});

test("the model does not see what was small talk, and explain says why", () => {
  const machine = conversationMachine({ policy: withoutSmallTalk(5) });
  let { state } = start(machine, { threadId: "t", at: 0 });
  for (const [content, smallTalk] of [
    ["How are you?", true],
    ["What is owed?", false],
  ] as const) {
    const messages = [{ role: "user", content, metadata: { smallTalk } }] as const;
    ({ state } = transition(machine, state, { type: "turn.added", messages, at: 1 }));
  }

  expect(promptOf(machine, state).messages.map(textOf)).toEqual(["What is owed?"]);
  expect(explain(machine, state).units.map(({ shown }) => shown)).toEqual(["out", "whole"]);
});

test("one that decides by what it did before is found out", () => {
  let calls = 0;
  const moody: Policy = {
    ...withoutSmallTalk(5),
    decide: (input) => withoutSmallTalk(calls++ % 3).decide(input),
  };
  expect(() => checkPolicyLaws(moody)).toThrow(/P\d/);
});
