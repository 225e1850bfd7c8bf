// The inbox of a thread, as its holder sees it.
import type { Event, State } from "@colloquy/machine";
import type { Inbox, InboxAnswer } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { Ask } from "../../src/ask/ask.ts";
import type { HostContext } from "../../src/context/host-context.ts";
import { Observation } from "../../src/context/hooks.ts";
import { HeldInbox } from "../../src/delegation/inbox.ts";
import type { Envelope, EventEnvelope } from "../../src/mailbox/mailbox.ts";
import { overriding } from "../gated-store.ts";
import { errorOf, inboxOf, settle, stored } from "../stage.ts";

const lease = { threadId: "default", owner: "owner", token: 1 };
const busy = { kind: "busy", reason: "a turn is open" } as const;
const stale = { kind: "stale", reason: "it is over" } as const;
const askOf = (askId: string): Event => ({ type: "ask.received", at: 1, askId, input: askId });
const cancelOf = (askId: string): Event => ({ type: "cancel.requested", at: 1, askId });

/** Makes the inbox of a holder, over a store that notes the calls it gets. */
const heldInbox = (change: (inner: Inbox) => Partial<Inbox> = () => ({}), entries: readonly unknown[] = []) => {
  const { clock, inner } = stored();
  const inbox = inboxOf(inner);
  const reads: number[] = [];
  const reported: string[] = [];
  const answered: (readonly InboxAnswer[])[] = [];
  const discarded: string[] = [];
  const answer = async (_: unknown, answers: readonly InboxAnswer[]): Promise<void> => void answered.push(answers);
  const discard = async (_: string, id: string): Promise<void> => void discarded.push(id);
  const store = overriding(inner, {
    read: async (_, from = 0) => {
      reads.push(from);
      return entries;
    },
    inbox: { ...inbox, answer, discard, ...change({ ...inbox, answer, discard }) },
  });
  const host = {
    clock,
    store,
    pollMs: 200,
    observation: new Observation({}, [], (thrown) => reported.push(String(thrown))),
    inboxes: { add: () => {}, remove: () => {} },
    // An inbox uses no other members.
  } as unknown as HostContext;
  const held = new HeldInbox(inboxOf(store), lease, host, { post: () => {}, handOver: () => false, end: () => {} });
  return { clock, inbox, held, reads, reported, answered, discarded };
};

/** Makes an envelope that this host posted, whose sender notes its outcome. */
const own = (name: string, event: Event, outcomes: string[]): EventEnvelope => ({
  event,
  sender: {
    accepted: ({ seq }) => outcomes.push(`${name}: entry ${seq}`),
    refused: ({ kind }) => outcomes.push(`${name}: ${kind}`),
    failed: ({ message }) => outcomes.push(`${name}: ${message}`),
  },
});

test.each([
  [5_000, 904],
  [4_096, 0],
  [10, 0],
])("a holder looks for a repeated item in the last 4,096 entries: of %i from %i on", async (seq, from) => {
  const entries = [
    { seq: from, event: cancelOf("other") },
    { seq: from + 1, event: cancelOf("a") },
  ];
  const { held, inbox, reads, answered } = heldInbox(() => ({}), entries);
  await inbox.post("default", { id: "item", event: cancelOf("a") });
  const [envelope] = await held.collect(new Map());
  // Only the seq of the state is read.
  (envelope as EventEnvelope).sender?.refused(stale, { context: { seq } } as unknown as State);
  await settle();
  expect(reads).toEqual([from]);
  expect(answered).toEqual([[{ id: "item", handled: true, seq: from + 1 }]]);
});

test("a holder answers a repeated item as refused if no entry of it is in the journal", async () => {
  const { held, inbox, answered } = heldInbox(() => ({}), [{ seq: 0, event: cancelOf("other") }]);
  await inbox.post("default", { id: "item", event: cancelOf("a") });
  const outcomes: string[] = [];
  const [envelope] = await held.collect(new Map([["item", own("a", cancelOf("a"), outcomes)]]));
  (envelope as EventEnvelope).sender?.refused(stale, null);
  await settle();
  expect([answered, outcomes]).toEqual([[[{ id: "item", handled: false, refusal: stale }]], ["a: stale"]]);
});

test("only the sender whose refusal could not be written gets the error of the store", async () => {
  const gate = Promise.withResolvers<void>();
  const written: string[] = [];
  const { held, inbox } = heldInbox(() => ({
    answer: async (_, answers) => {
      if (written.length > 0) throw new Error("disk full");
      written.push(...answers.map(({ id }) => id));
      await gate.promise;
    },
  }));
  const asks = ["c", "d"].map((askId) => new Ask("default", askId, undefined, () => true));
  const outcomes: string[] = [];
  for (const ask of asks) ask.catch((error: unknown) => outcomes.push(`${ask.askId}: ${String(error)}`));
  const envelopes = new Map<string, Envelope>([
    ["a", own("a", cancelOf("a"), outcomes)],
    ["b", own("b", cancelOf("b"), outcomes)],
    ...asks.map((ask): [string, Envelope] => [ask.askId, { event: askOf(ask.askId), sender: ask }]),
  ]);
  for (const id of ["a", "b"]) await inbox.post("default", { id, event: cancelOf(id) });
  for (const id of ["c", "d"]) await inbox.post("default", { id, event: askOf(id) });
  // All of them are envelopes with events.
  const [a, b, c, d] = (await held.collect(envelopes)) as readonly EventEnvelope[];
  a?.sender?.refused(busy, null);
  await settle();
  c?.sender?.refused(busy, null);
  for (const each of [b, d]) each?.sender?.refused(busy, null);
  await settle();
  expect(outcomes).toEqual([]);
  gate.resolve();
  await settle();
  expect(written).toEqual(["a"]);
  expect(outcomes.toSorted()).toEqual(["a: busy", "b: disk full", "c: Error: disk full", "d: Error: disk full"]);
});

test("an ask whose refusal was written is refused, though the store fails to write the next one", async () => {
  const gate = Promise.withResolvers<void>();
  let writes = 0;
  const { held, inbox } = heldInbox(() => ({
    answer: async () => {
      if (writes++ > 0) throw new Error("disk full");
      await gate.promise;
    },
  }));
  const ask = new Ask("default", "a", undefined, () => true);
  const outcome = errorOf(ask);
  const envelopes = new Map<string, Envelope>([["a", { event: askOf("a"), sender: ask }]]);
  for (const id of ["a", "b"]) await inbox.post("default", { id, event: askOf(id) });
  const [a, b] = (await held.collect(envelopes)) as readonly EventEnvelope[];
  a?.sender?.refused(busy, null);
  await settle();
  b?.sender?.refused(busy, null);
  gate.resolve();
  expect(await outcome).toMatchObject({ name: "AskRefusedError" });
});

test("a holder owes work to an inbox only while it has answers to write, or written ones to delete", async () => {
  const { held, inbox, clock, discarded } = heldInbox();
  expect(held.isOwed).toBe(false);
  await inbox.post("default", { id: "item", event: cancelOf("a") });
  const [envelope] = (await held.collect(new Map())) as readonly EventEnvelope[];
  envelope?.sender?.refused(busy, null);
  expect(held.isOwed).toBe(true);
  await settle();
  expect(held.isOwed).toBe(true);
  await clock.advance(5_000);
  await held.look();
  expect([held.isOwed, discarded]).toEqual([false, ["item"]]);
});

test("a holder returns its own items in their order, among them those that left the inbox, and deletes those at the end", async () => {
  const { held, inbox, discarded } = heldInbox();
  const mine = new Map<string, Envelope>(
    ["gone", "there", "last"].map((name) => [name, own(name, cancelOf(`ask ${name}`), [])]),
  );
  await inbox.post("default", { id: "other", event: cancelOf("ask other") });
  await inbox.post("default", { id: "there", event: cancelOf("ask there") });
  const envelopes = (await held.collect(mine)) as readonly EventEnvelope[];
  expect(envelopes.map(({ event }) => "askId" in event && event.askId)).toEqual([
    "ask other",
    "ask gone",
    "ask there",
    "ask last",
  ]);
  expect(mine.size).toBe(0);
  for (const index of [0, 2]) envelopes[index]?.sender?.refused(busy, null);
  await settle();
  await held.end();
  // The answer to an item of another host stays for that host.
  expect(discarded.toSorted()).toEqual(["gone", "last", "there"]);
});

test("a holder that cannot read its inbox answers its own items there, and deletes no item that may be there", async () => {
  const { held, answered, discarded, reported } = heldInbox(() => ({
    unanswered: () => Promise.reject(new Error("away")),
  }));
  const outcomes: string[] = [];
  const [envelope] = (await held.collect(
    new Map([["item", own("a", cancelOf("a"), outcomes)]]),
  )) as readonly EventEnvelope[];
  expect(reported).toEqual([expect.stringContaining("away")]);
  envelope?.sender?.refused(busy, null);
  await settle();
  expect(answered).toEqual([[{ id: "item", handled: false, refusal: busy }]]);
  await held.end();
  expect([outcomes, discarded]).toEqual([["a: busy"], []]);
});
