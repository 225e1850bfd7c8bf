import type { Event } from "@colloquy/machine";
import { redactEntry } from "@colloquy/machine/storage";
import { expect, test } from "vitest";
import {
  idOf,
  isEntryOf,
  isRequest,
  itemsIn,
  mayBeInInbox,
  readAnswer,
  readItem,
  requestOf,
} from "../../src/delegation/inbox-items.ts";
import { manualClock } from "../stage.ts";

const ask: Event = { type: "ask.received", at: 5, askId: "a", input: "Q" };
const done: Event = { type: "tool.completed", at: 5, effectId: "t/1.1.0", content: "4" };
const cancel: Event = { type: "cancel.requested", at: 5, askId: "a" };

test("an inbox accepts only events that a host recognises when they arrive twice", () => {
  const failed: Event = { type: "tool.failed", at: 5, effectId: "e", outcome: "failed", content: "" };
  const approval: Event = { type: "approval.answered", at: 5, effectId: "e", approved: true };
  const { askId: _, ...all } = cancel;
  const reset: Event = { type: "message.appended", at: 5, message: { role: "user", content: "Hi" } };
  expect([ask, done, failed, approval, cancel, all, reset].map((event) => mayBeInInbox(event))).toEqual([
    ...Array<boolean>(5).fill(true),
    false,
    false,
  ]);
  expect(readItem("1", { id: "1", event: ask })).toEqual({ id: "1", event: ask });
  expect(readItem("1", { id: "1", event: reset })).toMatchObject({ problem: expect.stringMatching(/can't be left/) });
  for (const stored of [null, 7, {}, { event: { type: "ask.received" } }])
    expect(readItem("1", stored)).toMatchObject({ id: "1", problem: expect.any(String) as string });
  expect([itemsIn({ id: "1", event: ask }), itemsIn({ id: "1" }), itemsIn({ event: ask })]).toEqual([
    [{ id: "1", event: ask }],
    [],
    [],
  ]);
  expect([{ id: "1" }, { id: 1 }, {}, null, "1"].map(idOf)).toEqual(["1", null, null, null, null]);
});

test("a request for a thread is an inbox item that cancels an ask with the id of the item", () => {
  const clock = manualClock();
  const event = requestOf("1", clock);
  expect(event).toEqual({ type: "cancel.requested", at: clock.now(), askId: "1" });
  expect([{ id: "1", event }, { id: "2", event }, { id: "a", event: ask }, { id: "1" }, null].map(isRequest)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test.each<readonly [string, unknown, Event, boolean]>([
  ["the same ask", ask, ask, true],
  ["the same ask, accepted later", { ...ask, at: 9 }, ask, true],
  ["the same ask with an earlier time", { ...ask, at: 4 }, ask, false],
  ["an ask with another id", { ...ask, askId: "b" }, ask, false],
  ["the same ask with another input", { ...ask, input: "R" }, ask, false],
  ["the same ask with partial output", { ...ask, partial: { text: "x" } }, ask, true],
  ["the same result", done, done, true],
  ["the same result at another time", { ...done, at: 6 }, done, false],
  ["a result of another call", { ...done, effectId: "t/1.1.1" }, done, false],
  ["another event", cancel, ask, false],
  ["no event", undefined, ask, false],
])("isEntryOf compares the event of an entry with that of an inbox item: %s", (_, event, own, isIts) => {
  expect(isEntryOf({ seq: 1, event }, own)).toBe(isIts);
});

test("isEntryOf also recognises a redacted event, but only in an entry that is marked as redacted", () => {
  const redacted = redactEntry({ seq: 1, event: ask });
  expect([isEntryOf(redacted, ask), isEntryOf({ ...redacted, redacted: undefined }, ask)]).toEqual([true, false]);
  expect([isEntryOf(null, ask), isEntryOf(7, ask)]).toEqual([false, false]);
});

test("readAnswer reads an answer without unknown members, and returns null for any other value", () => {
  const refusal = { kind: "full", reason: "no room" };
  expect(readAnswer({ id: "1", handled: true, seq: 3, more: 1 })).toEqual({ id: "1", handled: true, seq: 3 });
  expect(readAnswer({ id: "1", handled: false, refusal: { ...refusal, turn: "3" } })).toEqual({
    id: "1",
    handled: false,
    refusal,
  });
  for (const other of [{ handled: true, seq: 3 }, { id: 1, handled: true, seq: 3 }, { id: "1", seq: 3 }, 7])
    expect(readAnswer(other)).toBeNull();
});
