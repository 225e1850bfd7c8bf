import { getEventListeners } from "node:events";
import { limitCalls, type LlmHandler } from "@colloquy/host";
import { expect, it } from "vitest";
import { Pauses } from "../../src/calls/call-line.ts";
import { manualClock, says, settle } from "../stage.ts";
import { callOf, line, refusal } from "./line.ts";

it("a server that asks for a pause longer than the patience delays other calls only by an own, short pause", async () => {
  const { clock, made, call, ids } = line({ atOnce: 1, patienceMs: 1000 });
  call("tomorrow");
  call("next");
  await settle();
  made[0]?.answer(refusal({ retryAfterMs: 86_400_000 }));
  await clock.advance(199);
  expect(ids()).toEqual(["tomorrow"]);
  await clock.advance(1);
  expect(ids()).toEqual(["tomorrow", "next"]);
});

it("a call that is cancelled before it is made leaves at once, and frees no place of others", async () => {
  let called = 0;
  const handler: LlmHandler = () => {
    called++;
    return new Promise(() => {});
  };
  const limited = limitCalls(handler, { atOnce: 1 });
  const context = { clock: manualClock(), tools: [], onDelta: () => {} };
  const { signal } = new AbortController();
  void limited(callOf("a"), { ...context, signal });
  const cancelled = limited(callOf("b"), { ...context, signal: AbortSignal.abort() });
  await expect(cancelled).resolves.toMatchObject({ type: "failed" });
  void limited(callOf("c"), { ...context, signal });
  await settle();
  expect(called).toBe(1);
});

it("a thread whose call is cancelled while it is made keeps its turn", async () => {
  const { made, call, ids } = line({ atOnce: 1 });
  call("first");
  const cancelled = call("a", "a1");
  call("a", "a2");
  await settle();
  made[0]?.answer(says("."));
  await settle();
  call("b", "b1");
  cancelled.abort();
  await settle();
  expect(ids()).toEqual(["first", "a1", "a2"]);
});

it("a cancelled call that ends only later frees one place, not two", async () => {
  const { made, call, ids } = line({ atOnce: 1 });
  call("first").abort();
  const cancelled = call("second");
  for (const id of ["third", "fourth"]) call(id);
  await settle();
  cancelled.abort();
  await settle();
  made[0]?.answer(says("too late"));
  await settle();
  expect(ids()).toEqual(["second", "third"]);
});

it("limitCalls leaves no listener on the signal of a call that has ended", async () => {
  const { clock, made, call } = line({ atOnce: 1 });
  call("first");
  const { signal } = call("second");
  await settle();
  expect(getEventListeners(signal, "abort")).not.toEqual([]);
  made[0]?.answer(says("."));
  await settle();
  made[1]?.answer(refusal());
  await clock.advance(200);
  made[2]?.answer(says("."));
  await settle();
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("limitCalls sets one timer for a pause, however many calls wait for its end", async () => {
  const { clock, made, call } = line({ atOnce: 1 });
  call("a");
  await settle();
  made[0]?.answer(refusal());
  await settle();
  for (const id of ["b", "c", "d"]) call(id);
  await settle();
  expect(clock.sleepers).toBe(1);
});

it("Pauses has no pause before the first refusal, and one of 200 ms after it, from the first millisecond on", () => {
  const pauses = new Pauses(1);
  expect(pauses.until(0)).toBeNull();
  pauses.refused(0, 0, 0);
  expect([pauses.until(0), pauses.until(199), pauses.until(200)]).toEqual([200, 200, null]);
});

it("Pauses lengthens the pause once for calls that are made and refused in the same millisecond", () => {
  const pauses = new Pauses(2);
  for (let call = 0; call < 2; call++) pauses.refused(5, 5, 0);
  expect(pauses.until(5)).toBe(205);
});

it("Pauses takes a pause of one millisecond if the server asks for it", () => {
  const pauses = new Pauses(1);
  pauses.refused(0, 0, 1);
  expect(pauses.until(0)).toBe(1);
});

it("Pauses shortens a pause once when the clock is put back, however often it is asked for its end", () => {
  const pauses = new Pauses(1);
  pauses.refused(0, 1000, 500);
  expect([pauses.until(400), pauses.until(400), pauses.until(899), pauses.until(900)]).toEqual([900, 900, 900, null]);
});

it("Pauses grows with the refusal of a call that was made after the clock was put back", () => {
  const pauses = new Pauses(1);
  pauses.refused(0, 1000, 0);
  expect(pauses.until(400)).toBe(600);
  pauses.refused(600, 700, 0);
  expect(pauses.until(700)).toBe(1000);
});

it("Pauses shortens a pause when the clock was put back before the next refusal", () => {
  const pauses = new Pauses(1);
  pauses.refused(0, 1000, 0);
  pauses.refused(600, 700, 0);
  expect(pauses.until(700)).toBe(900);
});

it("Pauses counts a refusal once when the clock was put back to a time between two milliseconds", () => {
  const pauses = new Pauses(64);
  pauses.refused(0, 1000.1, 0);
  const { room } = pauses;
  pauses.until(0.001);
  pauses.refused(0.001, 0.001, 0);
  expect(pauses.room).toBe(room);
});
