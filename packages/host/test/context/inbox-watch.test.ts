import type { Event } from "@colloquy/machine";
import type { Inbox } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { InboxWatch } from "../../src/context/inbox-watch.ts";
import { overriding } from "../gated-store.ts";
import { inboxOf, manualClock, says, settle, stage, stored } from "../stage.ts";

const pollMs = 200;

/** An idle thread is released for the host that posted an item, and taken back if that host does not take it. */
const takenBackMs = 6 * pollMs;

/** Opens some threads on a memory store with some changed inbox methods, which notes at which inboxes a host looks. */
const open = async (change: (inner: Inbox) => Inbox) => {
  const { clock, inner } = stored();
  const inbox = inboxOf(inner);
  const looks: string[] = [];
  const reported: string[] = [];
  const unanswered = (threadId: string): Promise<readonly unknown[]> => {
    looks.push(threadId);
    return inbox.unanswered(threadId);
  };
  const { host } = stage({
    clock,
    store: overriding(inner, { inbox: { ...change(inbox), unanswered } }),
    script: ["a", "b", "c", "again"].map((text) => says(text)),
    pollMs,
    idleMs: 60_000,
    onObserverError: (error, where) => reported.push(`${where}: ${String(error)}`),
  });
  for (const threadId of ["a", "b", "c"]) await host.ask("hi", { threadId });
  looks.length = 0;
  const ask: Event = { type: "ask.received", at: 1, askId: "again", input: "again" };
  return { clock, host, looks, reported, post: () => inbox.post("b", { id: "item", event: ask }) };
};

test("a host looks only at the inboxes in which items wait", async () => {
  const { clock, host, looks, post } = await open((inbox) => inbox);
  await clock.advance(10 * pollMs);
  expect(looks).toEqual([]);
  await post();
  await clock.advance(pollMs);
  expect(looks).toEqual(["b"]);
  await clock.advance(takenBackMs);
  expect((await host.thread("b").asked("again"))?.status).toBe("completed");
});

test("a store that fails to name the threads is reported once, and asked again", async () => {
  let isFailing = true;
  const { clock, host, reported, post } = await open((inbox) => ({
    ...inbox,
    waiting: async () => {
      if (isFailing) throw new Error("down");
      return inbox.waiting();
    },
  }));
  await post();
  await clock.advance(5 * pollMs);
  expect(reported).toEqual(["store: Error: down"]);
  isFailing = false;
  await clock.advance(pollMs + takenBackMs);
  expect((await host.thread("b").asked("again"))?.status).toBe("completed");
});

/** Makes a watch that notes at which inboxes it looks, over a store that names the threads in which items wait. */
const watching = () => {
  const clock = manualClock();
  const looks: string[] = [];
  const reported: string[] = [];
  const store = { names: async (): Promise<readonly string[]> => [], calls: 0 };
  const waiting = (): Promise<readonly string[]> => {
    store.calls++;
    return store.names();
  };
  // A watch only asks which inboxes have items.
  const inbox = { waiting } as unknown as Inbox;
  const watch = new InboxWatch({ clock, pollMs, inbox, report: (error) => reported.push(String(error)) });
  const inboxNamed = (name: string, isOwed = false) => ({
    isOwed,
    look: async (): Promise<void> => void looks.push(name),
  });
  return { clock, watch, store, inboxNamed, looks, reported };
};

test("a watch asks its store once a poll, and looks at inboxes in which items wait or to which something is owed", async () => {
  const { clock, watch, store, inboxNamed, looks } = watching();
  watch.add("a", inboxNamed("a"));
  watch.add("b", inboxNamed("b", true));
  watch.add("c", inboxNamed("c"));
  expect(clock.sleepers).toBe(1);
  await clock.advance(pollMs - 1);
  expect([store.calls, looks]).toEqual([0, []]);
  store.names = async () => ["c", "d"];
  await clock.advance(1);
  expect([store.calls, looks, clock.sleepers]).toEqual([1, ["b", "c"], 1]);
  await clock.advance(pollMs);
  expect([store.calls, looks]).toEqual([2, ["b", "c", "b", "c"]]);
});

test("a watch stops when the last inbox is removed, and starts again with the next one", async () => {
  const { clock, watch, store, inboxNamed } = watching();
  const [one, two, other] = ["one", "two", "other"].map((name) => inboxNamed(name));
  if (one === undefined || two === undefined || other === undefined) throw new Error("no inboxes");
  watch.add("a", one);
  watch.add("b", other);
  // The thread was released, and taken again.
  watch.add("a", two);
  watch.remove("a", one);
  watch.remove("b", other);
  expect(clock.sleepers).toBe(1);
  watch.remove("a", two);
  expect(clock.sleepers).toBe(0);
  await clock.advance(pollMs);
  expect(store.calls).toBe(0);
  watch.add("a", one);
  await clock.advance(pollMs);
  expect(store.calls).toBe(1);
});

test("a watch that waits for its store asks it no second time meanwhile, and stops if no inbox is left then", async () => {
  const { clock, watch, store, inboxNamed, looks } = watching();
  const names = Promise.withResolvers<readonly string[]>();
  store.names = () => names.promise;
  const [one, two] = [inboxNamed("one"), inboxNamed("two")];
  watch.add("a", one);
  await clock.advance(pollMs);
  watch.add("b", two);
  expect(clock.sleepers).toBe(0);
  watch.remove("a", one);
  watch.remove("b", two);
  names.resolve(["a", "b"]);
  await settle();
  expect([store.calls, looks, clock.sleepers]).toEqual([1, [], 0]);
});

test("a watch reports a failure of its store again after the store has worked", async () => {
  const { clock, watch, store, inboxNamed, looks, reported } = watching();
  const away = (): Promise<never> => Promise.reject(new Error("away"));
  watch.add("a", inboxNamed("a", true));
  const outcomes: readonly (typeof store.names)[] = [away, away, async () => [], away];
  for (const outcome of outcomes) {
    store.names = outcome;
    await clock.advance(pollMs);
  }
  expect([reported, looks]).toEqual([
    ["Error: away", "Error: away"],
    ["a", "a", "a", "a"],
  ]);
});

test("an idle host that released a thread for another one takes it back after five polls", async () => {
  const { clock, inner } = stored();
  const calls: (readonly [string, number])[] = [];
  const note = (what: string): void => void calls.push([what, clock.now()]);
  const store = overriding(inner, {
    acquire: (...given) => (note("taken"), inner.acquire(...given)),
    release: (...given) => (note("released"), inner.release(...given)),
  });
  const { host } = stage({ clock, store, script: [says("1"), says("2")], pollMs, idleMs: 60_000 });
  await host.ask("hi");
  calls.length = 0;
  const ask: Event = { type: "ask.received", at: 1, askId: "again", input: "again" };
  await inboxOf(inner).post("default", { id: "item", event: ask });
  await clock.advance(10 * pollMs);
  expect(calls.map(([what]) => what)).toEqual(["released", "taken"]);
  const [released, taken] = calls.map(([, time]) => time);
  expect((taken ?? 0) - (released ?? 0)).toBe(5 * pollMs);
  await host.close();
});
