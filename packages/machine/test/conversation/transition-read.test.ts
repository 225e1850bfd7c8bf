import { conversationMachine, type Event, start, type State, transition } from "@colloquy/machine";
import { readEvent, transitionRead } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";

const machine = conversationMachine({ overlap: { type: "queue", max: 1 } });
const begun = start(machine, { threadId: "t", at: 0, system: "s" }).state;

const events: readonly Event[] = [
  { type: "ask.received", at: 1, askId: "a", input: "hello" },
  { type: "ask.received", at: 2, askId: "b", input: "and then?" },
  { type: "ask.received", at: 3, askId: "a", input: "hello" },
  { type: "llm.completed", at: 4, effectId: "t/1.1#1", reply: { content: "hi" }, finishReason: "stop" },
  { type: "llm.completed", at: 5, effectId: "t/1.1#1", reply: { content: "late" }, finishReason: "stop" },
  { type: "timer.fired", at: 6, effectId: "t/4!queue" },
];

test("steps by an event that was read before as by one that is read then, without another copy of it", () => {
  let state = begun;
  let steps = 0;
  for (const event of events) {
    const read = readEvent(event);
    if (Either.isLeft(read)) throw new Error(read.left);
    const step = transitionRead(machine, state, read.right);
    expect(step).toEqual(transition(machine, state, event));
    if (!step.handled) continue;
    expect(step.entry.event).toBe(read.right);
    ({ state } = step);
    steps += 1;
  }
  expect(steps).toBeGreaterThan(2);
});

test("refuses an event with the reason if the state's value is not one that its data can have", () => {
  const asked = transition(machine, begun, { type: "ask.received", at: 1, askId: "a", input: "hello" }).state;
  const wrong: State = { ...asked, value: "idle" };
  const event: Event = {
    type: "llm.completed",
    at: 2,
    effectId: "t/1.1#1",
    reply: { content: "hi" },
    finishReason: "stop",
  };
  const told = transition(machine, wrong, event);
  expect(told).toMatchObject({
    handled: false,
    effects: [],
    refusal: { kind: "invalid", reason: '"llm.completed" has no arrow from "idle": no transition gives it' },
  });
  expect(told.state).toBe(wrong);
});
