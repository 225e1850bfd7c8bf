// Decisions of a performer about events that cut off a reply.
import { performerOf } from "@colloquy/host/perform";
import type { Event } from "@colloquy/machine";
import { expect, test } from "vitest";
import { ask, at, effectOf, handled, optionsOf } from "../performing.ts";

const partial = { content: "Hel" };

/** Decides an ask with a deadline of a second. */
const asked = () => {
  const performer = performerOf(optionsOf([]));
  const begun = handled(performer.decide("t", null, { ...ask, limits: { deadlineMs: 1_000 } }, { at }));
  const timer = effectOf(begun, "startTimer");
  const deadline: Event = { type: "timer.fired", at: timer.dueAt, effectId: timer.id };
  return { performer, state: begun.state, timer, deadline, effectId: effectOf(begun, "callLlm").id };
};

test("a deadline is decided after the part of the reply that was shown", () => {
  const { performer, state, timer, deadline, effectId } = asked();
  expect(timer).toMatchObject({ purpose: "deadline", dueAt: at + 1_000 });
  const decision = handled(
    performer.decide("t", state, deadline, { at: timer.dueAt, shown: { effectId, reply: partial } }),
  );
  expect(decision.entries.map(({ event }) => event)).toMatchObject([
    { type: "llm.progressed", effectId, partial, at: timer.dueAt },
    { type: "timer.fired" },
  ]);
  expect(decision.entries[0]?.event).not.toHaveProperty("again");
  expect(decision.steps.map(({ before }) => before)).toEqual([state, decision.steps[0]?.after]);
});

test("a deadline is decided alone if nothing was shown, and not at all while that is unknown", () => {
  const { performer, state, timer, deadline, effectId } = asked();
  const how = { at: timer.dueAt };
  expect(performer.decide("t", state, deadline, how)).toEqual({ type: "cutsOff", effectId });
  const ofAnother = { effectId: "t/1.0#1", reply: partial };
  expect(performer.decide("t", state, deadline, { ...how, shown: ofAnother })).toEqual({ type: "cutsOff", effectId });
  const decision = handled(performer.decide("t", state, deadline, { ...how, shown: { effectId, reply: null } }));
  expect(decision.entries.map(({ event }) => event.type)).toEqual(["timer.fired"]);
});

test("progress that follows earlier progress of the reply voids it", () => {
  const { performer, state, timer, deadline, effectId } = asked();
  const progressed: Event = { type: "llm.progressed", at, effectId, partial };
  const later = handled(performer.decide("t", state, progressed, { at, shown: { effectId, reply: partial } })).state;
  const decision = handled(
    performer.decide("t", later, deadline, { at: timer.dueAt, shown: { effectId, reply: { content: "Hello" } } }),
  );
  expect(decision.entries[0]?.event).toMatchObject({ partial: { content: "Hello" }, again: true });
});

test("another timer cuts off no reply", () => {
  const { performer, state, timer } = asked();
  const other: Event = { type: "timer.fired", at: timer.dueAt, effectId: "t/other" };
  expect(performer.decide("t", state, other, { at: timer.dueAt }).type).toBe("refused");
});

test("only the entry of an event in place of a lost answer is marked as recovered", () => {
  const { performer, state, effectId } = asked();
  const failure = { kind: "network", message: "gone", retryable: false } as const;
  const failed: Event = { type: "llm.failed", at, effectId, promptDigest: "", failure };
  const marksOf = (recovered?: boolean): readonly boolean[] => {
    const how = recovered === undefined ? { at } : { at, recovered };
    return handled(performer.decide("t", state, failed, how)).entries.map((entry) => "recovered" in entry);
  };
  expect([marksOf(), marksOf(false), marksOf(true)]).toEqual([[false], [false], [true]]);
});
