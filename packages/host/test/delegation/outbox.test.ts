import type { Event } from "@colloquy/machine";
import type { InboxAnswer } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import { Observation } from "../../src/context/hooks.ts";
import { Outbox } from "../../src/delegation/outbox.ts";
import { overriding } from "../gated-store.ts";
import { countingIds, errorOf, settle, stored } from "../stage.ts";

const leaseTtlMs = 1_000;
const event: Event = { type: "cancel.requested", at: 1 };
const refusal = { kind: "stale", reason: "it is over" } as const;

/** Makes an outbox over an inbox that notes the calls it gets. A post fails while `fails` is true. */
const outboxWith = (entries: readonly unknown[] = []) => {
  const { clock, inner } = stored();
  const calls: string[] = [];
  const reported: string[] = [];
  const answers = new Map<string, InboxAnswer>();
  const inbox = { fails: false, discards: true, gate: Promise.resolve() };
  const outbox = new Outbox(
    "default",
    {
      clock,
      leaseTtlMs,
      ids: countingIds(),
      store: overriding(inner, { read: async (_, from = 0) => entries.slice(from) }),
      observation: new Observation({}, [], (thrown, where) => reported.push(`${where}: ${String(thrown)}`)),
    },
    {
      post: async (_, { id }) => {
        calls.push(`post ${id}`);
        await inbox.gate;
        if (inbox.fails) throw new Error("away");
      },
      answerTo: async (_, id) => answers.get(id) ?? null,
      discard: async (_, id) => {
        calls.push(`discard ${id}`);
        if (!inbox.discards) throw new Error("away");
      },
    },
  );
  /** Adds an envelope whose sender notes its outcome. */
  const add = (name: string): string[] => {
    const outcomes: string[] = [];
    outbox.add(
      {
        event,
        sender: {
          accepted: ({ seq }) => outcomes.push(`${name} ${seq}`),
          refused: () => outcomes.push(`${name} refused`),
          failed: (error) => outcomes.push(`${name} ${error.message}`),
        },
      },
      event,
    );
    return outcomes;
  };
  return { outbox, clock, calls, reported, answers, inbox, add, taken: (): string[] => calls.splice(0) };
};

const askOf = (): Ask => new Ask("default", "a", undefined, () => true);

test("an outbox posts items in order, and a failed one again, before the others", async () => {
  const { outbox, inbox, add, taken } = outboxWith();
  expect([outbox.size, outbox.hasNew, outbox.isDue]).toEqual([0, false, false]);
  add("one");
  expect([outbox.size, outbox.hasNew, outbox.isDue]).toEqual([1, true, true]);
  add("two");
  inbox.fails = true;
  expect(String(await errorOf(outbox.send()))).toContain("away");
  expect([taken(), await outbox.answers()]).toEqual([["post item-1"], []]);
  inbox.fails = false;
  await Promise.all([outbox.send(), outbox.send()]);
  expect([taken(), outbox.size, outbox.hasNew, outbox.isDue]).toEqual([
    ["post item-1", "post item-2"],
    2,
    false,
    false,
  ]);
});

test("an outbox posts its oldest item again once its answer may have been deleted", async () => {
  const { outbox, clock, add, taken } = outboxWith();
  add("one");
  add("two");
  await outbox.send();
  taken();
  await clock.advance(leaseTtlMs - 1);
  await outbox.send();
  expect([taken(), outbox.isDue]).toEqual([[], false]);
  await clock.advance(1);
  expect(outbox.isDue).toBe(true);
  await outbox.send();
  await outbox.send();
  expect([taken(), outbox.isDue]).toEqual([["post item-1"], false]);
});

test("an outbox posts an ask that the store lost under a new id instead of the old item, also while its post is in progress", async () => {
  const { outbox, answers, inbox, add, taken } = outboxWith();
  const ask = askOf();
  const sent = { type: "ask.received", at: 1, askId: "a", input: "hi" } as const;
  outbox.add({ event: sent, sender: ask }, sent);
  add("other");
  outbox.addAnew(ask, sent);
  expect([outbox.size, ask.inboxId]).toEqual([2, "item-1"]);
  await outbox.send();
  expect(taken()).toEqual(["post item-1", "post item-2"]);
  outbox.addAnew(ask, sent);
  outbox.addAnew(ask, sent);
  await outbox.send();
  expect([taken(), outbox.size]).toEqual([["discard item-1", "post item-3"], 2]);
  // An item whose post is in progress may not have reached the inbox.
  const gate = Promise.withResolvers<void>();
  inbox.gate = gate.promise;
  const other = askOf();
  other.inboxId = "earlier";
  outbox.add({ event: sent, sender: other }, sent);
  const sending = outbox.send();
  await settle();
  for (const id of ["item-2", "item-3", "earlier"]) answers.set(id, { id, handled: true, seq: 1 });
  expect((await outbox.answers()).map(({ item }) => item.id)).toEqual(["item-2", "item-3"]);
  outbox.addAnew(other, sent);
  outbox.drop((sender) => sender === other);
  gate.resolve();
  await sending;
  expect([taken(), outbox.size]).toEqual([["post earlier", "discard item-4"], 3]);
});

test("an outbox reads answers up to the first item that has none, and tells each sender its outcome", async () => {
  const first = { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "default" } };
  const { outbox, answers, add, taken } = outboxWith([first, { seq: 1, event }, { seq: 2, event: { type: "odd" } }]);
  const outcomes = ["one", "two", "three", "four"].map((name) => add(name));
  for (const sender of [null, askOf()]) outbox.add({ event, sender }, event);
  await outbox.send();
  taken();
  answers.set("item-1", { id: "item-1", handled: true, seq: 1 });
  answers.set("item-2", { id: "item-2", handled: true, seq: 2 });
  answers.set("item-3", { id: "item-3", handled: false, refusal });
  for (const id of ["item-5", "item-6"]) answers.set(id, { id, handled: true, seq: 1 });
  const answered = await outbox.answers();
  expect(answered.map(({ item }) => item.id)).toEqual(["item-1", "item-2", "item-3"]);
  for (const each of [...answered, ...answered]) {
    const waits = outbox.waitsFor(each);
    await outbox.settle(each, (sender, given) => sender.refused(given.refusal, null));
    expect([waits, outbox.waitsFor(each)]).toEqual([taken().length === 1, false]);
  }
  expect(outcomes).toEqual([
    ["one 1"],
    [expect.stringMatching(/^two thread "default".*journal/)],
    ["three refused"],
    [],
  ]);
  answers.set("item-4", { id: "item-4", handled: true, seq: 1 });
  for (const each of await outbox.answers()) await outbox.settle(each, () => expect.unreachable());
  expect([outcomes[3], taken(), outbox.size]).toEqual([
    ["four 1"],
    ["discard item-4", "discard item-5", "discard item-6"],
    0,
  ]);
});

test("an outbox takes back what was not posted, drops what is not wanted, and leaves the rest to a new holder", async () => {
  const { outbox, reported, inbox, add, taken } = outboxWith();
  const ask = askOf();
  const others = [askOf(), askOf()] as const;
  for (const sender of [ask, ...others]) outbox.add({ event, sender }, event);
  expect([outbox.takeBack(ask), outbox.takeBack(ask), outbox.size]).toEqual([true, false, 2]);
  outbox.drop((sender) => sender === others[0]);
  expect([taken(), outbox.size]).toEqual([["discard item-2"], 1]);
  add("last");
  await outbox.send();
  expect([outbox.takeBack(others[1]), taken()]).toEqual([false, ["post item-3", "post item-4"]]);
  inbox.discards = false;
  outbox.drop((sender) => sender === others[1]);
  await settle();
  expect([taken(), reported]).toEqual([["discard item-3"], ["store: Error: away"]]);
  add("waiting");
  const { posted, others: waiting } = outbox.takeAll();
  expect([[...posted.keys()], waiting.length, outbox.size]).toEqual([["item-4"], 1, 0]);
});
