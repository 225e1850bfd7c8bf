// A custom policy, which decides what a prompt shows. docs/prompts.md is the guide; one line checks the laws.
import { conversationMachine, promptOf, start, textOf, transition } from "@colloquy/machine";
import { explain } from "@colloquy/machine/inspect";
import type { Policy } from "@colloquy/machine/policies";
import { checkPolicyLaws } from "@colloquy/runtime-test/laws";
import { expect, test } from "vitest";

/** Shows the last turns, except those whose ask was marked as small talk. */
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
  // Also checks the claims that it leaves open. It may drop newer turns than it keeps (P11), and makes no room (P4).
  checkPolicyLaws(withoutSmallTalk(5), { claims: "all", except: ["P4", "P11"] });
});

test("small talk does not reach the model, and explain says why", () => {
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

test("the laws find a policy that decides by its earlier calls", () => {
  let calls = 0;
  const moody: Policy = {
    ...withoutSmallTalk(5),
    decide: (input) => withoutSmallTalk(calls++ % 3).decide(input),
  };
  expect(() => checkPolicyLaws(moody)).toThrow(/P\d/);
});
