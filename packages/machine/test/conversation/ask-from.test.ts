import { machineOptionsArbitrary, runSchedule, scheduleArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type AskReceived,
  conversationMachine,
  type ConversationMachine,
  type State,
  transition,
} from "../../src/index.ts";
import { runs } from "../runs.ts";

const askFrom = (from: AskReceived["from"], askId = "branch") =>
  ({ type: "ask.received", askId, input: "Q", ...(from === undefined ? {} : { from }) }) as const;

test("comes to what a move of the head and an ask come to, in every conversation", () => {
  const subject = fc.record({
    options: machineOptionsArbitrary,
    schedule: scheduleArbitrary({ tools: ["search"] }),
    pick: fc.nat(),
  });
  let compared = 0;
  fc.assert(
    fc.property(subject, ({ options, schedule, pick }) => {
      const machine = conversationMachine(options);
      const { started, steps } = runSchedule(machine, schedule);
      const states = [started.state, ...steps.map(({ transition: { state } }) => state)];
      for (const state of states) compared += sameInOneStep(machine, state, pick) ? 1 : 0;
    }),
    { numRuns: runs(200) },
  );
  expect(compared).toBeGreaterThan(runs(200));
});

/** False where such an ask is refused; then the move or the ask has to be refused as well. */
const sameInOneStep = (machine: ConversationMachine, before: State, pick: number): boolean => {
  const { conversation } = before.context;
  const at = before.context.updatedAt + 1;
  const from = pick % (conversation.turns.length + 1);
  const once = transition(machine, before, { ...askFrom(from), at });
  const moved = transition(machine, before, { type: "head.moved", at, to: from });
  const twice = transition(machine, moved.state, { ...askFrom(undefined), at });
  expect(once.handled).toBe(moved.handled && twice.handled);
  if (!once.handled) return false;
  expect({ ...once.state.context, seq: 0 }).toEqual({ ...twice.state.context, seq: 0 });
  expect(once.state.value).toEqual(twice.state.value);
  return true;
};
