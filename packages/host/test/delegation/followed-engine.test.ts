import type { Event, Refusal, State } from "@colloquy/machine";
import type { Engine } from "@colloquy/host/store";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { Asks } from "../../src/ask/asks.ts";
import type { HostContext } from "../../src/context/host-context.ts";
import { Observation } from "../../src/context/hooks.ts";
import { FollowedEngine, inboxOf } from "../../src/delegation/followed-engine.ts";
import { type Answered, Outbox } from "../../src/delegation/outbox.ts";
import type { Envelope } from "../../src/mailbox/mailbox.ts";
import { TurnLogs } from "../../src/turn-log/log.ts";
import { countingIds, errorOf, settle, stored } from "../stage.ts";

const event: Event = { type: "cancel.requested", at: 1 };
const unknown: Refusal = { kind: "unknown", reason: "there is no thread" };
// Only whether there is a state matters here.
const state = { context: {} } as unknown as State;

/** Makes the use of an engine's thread. The engine refuses each event as unknown. */
const followed = () => {
  const { clock, inner: store } = stored();
  const sent: string[] = [];
  const engine: Engine = {
    send: async (_, id) => {
      sent.push(id);
      return { id, handled: false, refusal: unknown };
    },
  };
  const observation = new Observation({}, [], undefined);
  const logs = new TurnLogs(clock, 1);
  const ids = countingIds();
  // No other members are used.
  const host = { clock, store, observation, logs, ids, leaseTtlMs: 1_000, owner: "o" } as unknown as HostContext;
  const outbox = new Outbox("t", host, inboxOf(engine));
  const asks = new Asks();
  const events: string[] = [];
  const of = new FollowedEngine(engine, { threadId: "t", host, asks }, outbox, () => {});
  const senderOf = (name: string) => ({
    accepted: () => events.push(`${name} accepted`),
    refused: ({ kind }: Refusal) => events.push(`${name} ${kind}`),
    failed: (error: Error) => events.push(`${name} ${error.name}`),
  });
  const task = (name: string): Envelope => ({ task: () => void events.push(name), sender: senderOf(name) });
  return { of, outbox, events, sent, senderOf, task };
};

/** Sends what waits in an outbox, and settles it. */
const settled = async (outbox: Outbox): Promise<void> => {
  await outbox.send();
  for (const answered of await outbox.answers())
    await outbox.settle(answered, (sender, { refusal }) => sender.refused(refusal, null));
  await settle();
};

test("an engine's thread gets events at once, and runs tasks after the events before them were handled", async () => {
  const { of, outbox, events, senderOf, task } = followed();
  of.add({ event, sender: senderOf("one") });
  of.add(task("two"));
  of.add({ event, sender: senderOf("three") });
  of.add(task("four"));
  expect([of.size, outbox.size]).toEqual([3, 1]);
  of.pass(state);
  expect(events).toEqual([]);
  await settled(outbox);
  of.pass(state);
  expect([events, of.size, outbox.size]).toEqual([["one unknown", "two"], 1, 1]);
  await settled(outbox);
  of.pass(state);
  expect([events.slice(2), of.size]).toEqual([["three unknown", "four"], 0]);
});

test("a task fails on an engine's thread that does not exist, and so does one that throws, each with its error", () => {
  const { of, events, task, senderOf } = followed();
  of.add(task("one"));
  of.pass(null);
  const throwing = (thrown: unknown) => (): void => {
    throw thrown;
  };
  of.add({ task: throwing(new RangeError("broken")), sender: senderOf("two") });
  of.add({ task: throwing("no error"), sender: senderOf("three") });
  of.pass(state);
  expect(events).toEqual(["one ThreadUnknownError", "two RangeError", "three StoreError"]);
});

test("an event that is made from the state is sent to the engine, or refused", async () => {
  const { of, outbox, events, sent, senderOf } = followed();
  of.add({ make: () => Either.left({ kind: "stale", reason: "over" }), sender: senderOf("one") });
  of.add({ make: () => Either.right(event), sender: senderOf("two") });
  of.pass(state);
  expect([events, outbox.size]).toEqual([["one stale"], 1]);
  await settled(outbox);
  expect([events, sent]).toEqual([["one stale", "two unknown"], ["item-1"]]);
});

test("an envelope is taken back from an engine's thread until it was passed on", () => {
  const { of, senderOf, task, events } = followed();
  of.add(task("one"));
  const sender = senderOf("two");
  of.add({ event, sender });
  expect([of.takeBack(sender), of.size, of.takeBack(sender), of.size]).toEqual([true, 1, false, 1]);
  expect(of.end()).toHaveLength(1);
  of.pass(state);
  expect([of.size, events]).toEqual([0, []]);
});

test("an event that an engine refused fails as a loop would have failed it", async () => {
  const { of, events, senderOf } = followed();
  const answered = (given: Event | { readonly type: "thread.started" }, refusal: Refusal, sender: Envelope["sender"]) =>
    // No other members are read.
    ({ item: { event: given, envelope: { sender } }, answer: { handled: false, refusal } }) as unknown as Answered;
  const stale: Refusal = { kind: "stale", reason: "over" };
  const start = { type: "thread.started" } as const;
  expect([
    of.fails(answered(event, unknown, senderOf("one")), null),
    of.fails(answered(event, unknown, senderOf("two")), state),
    of.fails(answered(event, stale, senderOf("three")), null),
    of.fails(answered(event, stale, senderOf("four")), state),
    of.fails(answered(start, stale, senderOf("five")), state),
    of.fails(answered(start, stale, senderOf("six")), null),
    of.fails(answered(start, unknown, null), state),
  ]).toEqual([true, false, false, false, true, false, true]);
  expect(events).toEqual(["one ThreadUnknownError", "five ThreadExistsError"]);
  const ask = new Ask("t", "a", undefined, () => true);
  expect(of.fails(answered(event, unknown, ask), null)).toBe(true);
  expect(await Promise.race([errorOf(ask), settle()])).toMatchObject({ name: "ThreadUnknownError" });
});
