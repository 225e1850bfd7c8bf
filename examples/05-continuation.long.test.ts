// Properties: a conversation continues after any failure, cancel, hanging tool, edit or undo.
import { conversationMachine, messagesOf, transition } from "@colloquy/machine";
import type { Policy } from "@colloquy/machine/policies";
import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import { checkMachineLaws } from "@colloquy/runtime-test/laws";
import * as fc from "fast-check";
import { expect, test } from "vitest";

test("the prompt of the next question has all earlier messages", () => {
  const machine = conversationMachine();
  const between = stateArbitrary({}).filter(({ context: { open, waking } }) => open === null && waking === null);
  fc.assert(
    fc.property(between, fc.string({ minLength: 1 }), (state, input) => {
      const { system } = state.context.conversation;
      const { updatedAt: at } = state.context;

      const step = transition(machine, state, { type: "ask.received", askId: "the next one", input, at });

      const [call] = step.effects.filter(({ type }) => type === "callLlm");
      const question = { role: "user", parts: [{ type: "text", text: input }] };
      expect(call).toMatchObject({
        messages: [...(system === null ? [] : [system]), ...messagesOf(state), question],
      });
    }),
  );
});

/** A custom policy, which shows the even earlier turns. */
const everyOther = (isEven: (turn: number) => boolean): Policy => ({
  name: "every-other",
  version: 1,
  options: {},
  monotone: true,
  stable: false,
  decide: ({ history }) => {
    const turns = [...history.newestFirst()].filter(({ number }) => !isEven(number));
    const dropped = turns.flatMap(({ units }) => units().map(({ id }) => id));
    return { from: null, dropped, reason: "an odd turn" };
  },
});

test("a custom policy keeps the laws", () => {
  checkMachineLaws({ policy: everyOther((turn) => turn % 2 === 0) });
});

test("the laws find an impure policy, with the shortest conversation that shows it", () => {
  let calls = 0;
  const moody = everyOther(() => calls++ % 3 === 0); // decides by its earlier calls, not by its arguments
  expect(() => checkMachineLaws({ policy: moody })).toThrow(/M1|M3|M5|R5|explain/);
});
