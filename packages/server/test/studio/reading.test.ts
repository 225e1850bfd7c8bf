import { getEventListeners } from "node:events";
import { type AskPart, createHost, type LlmHandler, memoryStore, type Store } from "@colloquy/host";
import { conversationMachine, type Event, type ReplyDraft, start, type State, transition } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { describe, expect, test, vi } from "vitest";
import { usable } from "../../src/http/list-page.ts";
import type { Call } from "../../src/http/route.ts";
import { changedThreads } from "../../src/studio/reading/changed-threads.ts";
import { itemReader, runningText, threadReader } from "../../src/studio/reading/thread-reader.ts";
import { turnView } from "../../src/studio/projections/turn-view.ts";
import { trips } from "./kit/trip.ts";

const parts = () => {
  const clock = virtualClock();
  const store = memoryStore({ clock });
  return { clock, store, ...trips(store, clock.now()) };
};

test("a thread that grew is read from where it was, one that was redacted or made again anew", async () => {
  const { store, host, close } = parts();
  const read = threadReader(store);
  expect(await read("trip")).toBeNull();
  await host.ask("Hello?", { threadId: "trip" });
  const first = await read("trip");
  await host.ask("And again?", { threadId: "trip" });
  const grown = await read("trip");
  expect(grown).toBe(first);
  expect(grown?.entries).toEqual(await host.thread("trip").exportJournal());
  await host.thread("trip").redact({ seqs: [1] });
  const redacted = await read("trip");
  expect(redacted?.rows[1]).toMatchObject({ words: "", marks: expect.arrayContaining(["redacted"]) });
  await host.thread("trip").delete();
  expect(await read("trip")).toBeNull();
  await host.ask("Somebody else", { threadId: "trip" });
  expect((await read("trip"))?.rows).toHaveLength(3);
  await close();
});

test("the threads that were read last are kept, and another one is read anew", async () => {
  const { store, host, close } = parts();
  for (const threadId of ["a", "b", "c", "d", "e"]) await host.thread(threadId).start();
  const read = threadReader(store);
  const first = await Promise.all(["a", "b", "c", "d"].map(read));
  expect(await read("a")).toBe(first[0]);
  await read("e");
  expect(await read("a")).toBe(first[0]);
  expect(await read("c")).toBe(first[2]);
  expect(await read("d")).toBe(first[3]);
  expect(await read("b")).not.toBe(first[1]);
  await close();
});

test("what a model wrote as a summary is told from what it answered", async () => {
  const store = memoryStore({ clock: virtualClock() });
  const machine = conversationMachine({ policy: compactTurns(), budget: { tokens: 400, reserve: 100 } });
  const llm: LlmHandler = async ({ purpose }) => ({
    type: "completed",
    reply: { content: purpose === "summary" ? "They greeted." : "Hello, ".repeat(30) },
    finishReason: "stop",
  });
  const host = createHost({ store, machine, llm, clock: virtualClock(), ids: sequentialIds() });
  for (let turn = 0; turn < 8; turn += 1) await host.ask("Hello? ".repeat(20), { threadId: "long" });
  const thread = await threadReader(store)("long");
  const rows = thread?.rows ?? [];
  const summaries = rows.filter(({ marks }) => marks.includes("summary"));
  expect(summaries.length).toBeGreaterThan(0);
  for (const row of summaries) expect(row).toMatchObject({ kind: "system", words: "They greeted." });
  expect(rows.filter(({ kind }) => kind === "assistant")).toHaveLength(8);
  if (thread === null) throw new Error("the thread is gone");
  const spans = [1, 2, 3, 4, 5].map((turn) =>
    turnView(thread, turn, 0)?.spans.map(({ kind, name }) => `${kind} ${name}`),
  );
  const call = ["model model call 1"];
  expect(spans).toEqual([call, call, call, ["model summary", ...call], call]);
  await host.close();
});

test("the waterfall of a turn shows the end of a summary that ended after the turn", async () => {
  const store = memoryStore({ clock: virtualClock() });
  const machine = conversationMachine({ policy: compactTurns(), budget: { tokens: 400, reserve: 100 } });
  const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
  const llm: LlmHandler = async ({ purpose }) => {
    if (purpose === "summary") await isAllowed;
    const content = purpose === "summary" ? "They greeted." : "Hello, ".repeat(30);
    return { type: "completed", reply: { content }, finishReason: "stop" };
  };
  const host = createHost({ store, machine, llm, clock: virtualClock(), ids: sequentialIds() });
  for (let turn = 0; turn < 4; turn += 1) await host.ask("Hello? ".repeat(20), { threadId: "long" });
  const read = threadReader(store);
  const endsOf = async (): Promise<unknown> => {
    const thread = await read("long");
    return thread === null ? null : turnView(thread, 4, 0)?.spans.map(({ name, until }) => [name, until === null]);
  };
  const pending = [
    ["summary", true],
    ["model call 1", false],
  ];
  expect(await endsOf()).toEqual(pending);
  allow();
  await expect.poll(endsOf).toEqual(pending.map(([name]) => [name, false]));
  await host.close();
});

test("each state is the one that the host gives, however far behind", async () => {
  const { store, host, close } = parts();
  await host.ask("Hello?", { threadId: "trip" });
  for (let turn = 0; turn < 150; turn += 1) await host.thread("trip").annotate(1, `score ${turn}`, turn);
  for (let turn = 0; turn < 150; turn += 1)
    await host.thread("trip").addTurn([{ role: "user", content: `turn ${turn}` }]);
  const thread = await threadReader(store)("trip");
  const length = thread?.entries.length ?? 0;
  expect(length).toBeGreaterThan(300);
  for (const seq of [0, 1, 30, 255, 256, 257, length - 1])
    expect(thread?.at(seq)).toEqual(await host.thread("trip").at(seq));
  await close();
});

test("threads that change are given when they do, and none when nothing happens", async () => {
  const { clock, store, host, close } = parts();
  await host.ask("Hello?", { threadId: "there before" });
  const ending = new AbortController();
  const changes = changedThreads({ store, clock, everyMs: 100, signal: ending.signal });
  const next = changes.next();
  await clock.advance(1_000);
  await host.ask("Hello?", { threadId: "fresh" });
  await clock.advance(100);
  expect((await next).value).toMatchObject([{ threadId: "fresh", seq: 2 }]);
  const after = changes.next();
  await host.ask("Still there?", { threadId: "there before" });
  await clock.advance(100);
  expect((await after).value).toMatchObject([{ threadId: "there before", seq: 4 }]);
  const last = changes.next();
  ending.abort();
  expect((await last).done).toBe(true);
  expect(clock.pending()).toEqual([]);
  await close();
});

test("changedThreads asks for threads that changed up to a minute before it started, as other clocks may lag", async () => {
  const { clock, store, close } = parts();
  await clock.advance(100_000);
  const listed: unknown[] = [];
  const list = store.list.bind(store);
  vi.spyOn(store, "list").mockImplementation((options) => {
    listed.push(options);
    return list(options);
  });
  const ending = new AbortController();
  const next = changedThreads({ store, clock, everyMs: 100, signal: ending.signal }).next();
  await clock.advance(99);
  expect(listed).toEqual([{ updated: { from: clock.now() - 99 - 60_000 } }]);
  ending.abort();
  expect((await next).done).toBe(true);
  await close();
});

test("changedThreads ends at once if it is no longer wanted when it has asked the store, and leaves no timer", async () => {
  const { clock, store, close } = parts();
  const ending = new AbortController();
  const list = store.list.bind(store);
  vi.spyOn(store, "list").mockImplementation(async (options) => {
    ending.abort();
    return list(options);
  });
  const changes = changedThreads({ store, clock, everyMs: 100, signal: ending.signal });
  expect((await changes.next()).done).toBe(true);
  expect(clock.pending()).toEqual([]);
  await close();
});

test("a thread is read after a read of it failed", async () => {
  const { store, host, close } = parts();
  await host.thread("a").start();
  const read = threadReader(store);
  vi.spyOn(store, "read").mockRejectedValueOnce(new Error("the store is away"));
  const both = [read("a"), read("a")];
  await expect(both[0]).rejects.toThrow("the store is away");
  expect((await both[1])?.entries).toHaveLength(1);
  await close();
});

test("changedThreads asks a store that failed again", async () => {
  const { clock, store, host, close } = parts();
  const ending = new AbortController();
  const changes = changedThreads({ store, clock, everyMs: 100, signal: ending.signal });
  const next = changes.next();
  await clock.advance(50);
  vi.spyOn(store, "list").mockRejectedValueOnce(new Error("the store is away"));
  await host.thread("a").start();
  await clock.advance(50);
  await clock.advance(100);
  expect((await next).value).toMatchObject([{ threadId: "a" }]);
  const last = changes.next();
  await clock.advance(50);
  ending.abort();
  expect((await last).done).toBe(true);
  expect([clock.pending(), getEventListeners(ending.signal, "abort")]).toEqual([[], []]);
  await close();
});

test("itemReader reads the figures of a thread again only when the thread changed or was created again", async () => {
  const { store, host, close } = parts();
  const read = itemReader(host);
  const looks = vi.spyOn(host, "thread");
  const figures = async () =>
    (await read((await store.list({})).threads)).map(({ threadId, turns }) => [threadId, turns]);
  const counted = async () => [await figures(), looks.mock.calls.length] as const;
  await host.ask("Hello?", { threadId: "a" });
  await host.thread("b").start();
  const [first, begun] = await counted();
  expect(Object.fromEntries(first)).toEqual({ a: 1, b: 0 });
  expect(await counted()).toEqual([first, begun]);
  await host.ask("And again?", { threadId: "a" });
  const asked = looks.mock.calls.length;
  const [grown, after] = await counted();
  expect([Object.fromEntries(grown), after - asked]).toEqual([{ a: 2, b: 0 }, 1]);
  const failing = vi.spyOn(host, "thread").mockImplementation(() => {
    // Cast: only this member is used.
    return { look: () => Promise.reject(new Error("unreadable")) } as unknown as ReturnType<typeof host.thread>;
  });
  const [stored] = (await store.list({})).threads;
  if (stored === undefined) throw new Error("a thread is stored");
  const unread = { title: "", place: null, approvals: 0, turns: 0, tokens: null, cost: null };
  for (const change of [{ seq: stored.seq + 1 }, { createdAt: stored.createdAt + 1 }, { threadId: "c" }])
    expect(await read([{ ...stored, ...change }])).toEqual([{ ...stored, ...change, ...unread }]);
  failing.mockRestore();
  await close();
});

test("itemReader keeps the figures of the 10,000 threads that were read last", async () => {
  const { host, close } = parts();
  const looked: (string | undefined)[] = [];
  vi.spyOn(host, "thread").mockImplementation((threadId) => {
    looked.push(threadId);
    // Cast: only this member is used.
    return { look: async () => null } as unknown as ReturnType<typeof host.thread>;
  });
  const read = itemReader(host);
  const stored = (index: number) => ({ threadId: `t${index}`, seq: 0, createdAt: 0, updatedAt: 0, metadata: {} });
  await read(Array.from({ length: 10_001 }, (_, index) => stored(index)));
  expect(looked).toHaveLength(10_001);
  await read([stored(1), stored(10_000), stored(0)]);
  expect(looked.slice(10_001)).toEqual(["t0"]);
  await close();
});

test("changedThreads leaves no listener on its signal between two looks at the store", async () => {
  const { clock, store, host, close } = parts();
  const ending = new AbortController();
  const changes = changedThreads({ store, clock, everyMs: 100, signal: ending.signal });
  for (const threadId of ["a", "b", "c"]) {
    const next = changes.next();
    await clock.advance(100);
    await host.thread(threadId).start();
    await clock.advance(100);
    expect((await next).value).toMatchObject([{ threadId }]);
    expect(getEventListeners(ending.signal, "abort")).toEqual([]);
  }
  await close();
});

describe("the text of an open turn so far", () => {
  const machine = conversationMachine();
  const after = (...events: readonly Event[]): State => {
    let { state } = start(machine, { threadId: "t", at: 0 });
    for (const event of events) {
      const step = transition(machine, state, event);
      if (!step.handled) throw new Error(step.refusal.reason);
      ({ state } = step);
    }
    return state;
  };
  const asked: Event = { type: "ask.received", at: 1, askId: "a", input: "Hi." };
  const answered: Event = {
    type: "llm.completed",
    at: 2,
    effectId: "t/1.1#1",
    reply: { content: "done" },
    finishReason: "stop",
  };
  const writing = (partial?: ReplyDraft["content"]): State =>
    partial === undefined
      ? after(asked)
      : after(asked, { type: "llm.progressed", at: 2, effectId: "t/1.1#1", partial: { content: partial } });
  const text = (words: string, more: object = {}): AskPart => {
    return { type: "text.delta", turn: 1, step: 1, attempt: 1, text: words, ...more };
  };
  const again: AskPart = { type: "replay.started", turn: 1, step: 1, synthesised: false };
  /** Makes a store with batches of parts, each with the token of its lease. */
  const logging = (...batches: readonly (readonly [token: number, ...parts: readonly AskPart[]])[]): Store =>
    Object.assign(memoryStore({ clock: virtualClock() }), {
      parts: {
        append: async () => {},
        read: async () =>
          batches.map(([token, ...logged], number) => {
            return { token, number, turn: 1, body: JSON.stringify(logged.map((part, index) => [index, 0, part])) };
          }),
      },
    });
  const failing: Store = Object.assign(logging(), { parts: { read: () => Promise.reject(new Error("away")) } });

  test.each<readonly [string, State, Store, string]>([
    ["none before the first ask", after(), logging([1, text("no")]), ""],
    ["none after its end", after(asked, answered), logging([1, text("no")]), ""],
    ["none before the first word", writing(), logging(), ""],
    ["what is in the journal", writing("It"), logging(), "It"],
    [
      "what is in the journal, without its reasoning and refusals",
      writing([
        { type: "reasoning", text: "Hm." },
        { type: "text", text: "It" },
        { type: "refusal", text: "No." },
      ]),
      logging(),
      "It",
    ],
    ["what is in the log", writing(), logging([1, text("It "), text("rains")], [1, text(".")]), "It rains."],
    ["what is in the log if that has more", writing("It"), logging([1, text("It rains")]), "It rains"],
    ["what is in the journal if that has more", writing("It rains"), logging([1, text("It")]), "It rains"],
    ["what is in the journal if the log has as much", writing("It"), logging([1, text("So")]), "It"],
    ["what is in the journal if the log cannot be read", writing("It"), failing, "It"],
    ["what the newest holder wrote", writing(), logging([1, text("Rain, ")], [2, text("It rains")]), "It rains"],
    ["what was written after a replay", writing(), logging([1, text("Rain, "), again, text("It")]), "It"],
    ["nothing of another step", writing(), logging([1, text("no", { step: 2 }), text("It")]), "It"],
    ["nothing of another attempt", writing(), logging([1, text("no", { attempt: 2 }), text("It")]), "It"],
    ["no other parts", writing(), logging([1, text("no", { type: "reasoning.delta" }), text("It")]), "It"],
  ])("is %s", async (_, state, store, expected) => {
    expect(await runningText(store, state, 9)).toBe(expected);
  });
});

test.each<readonly [number, readonly string[], number]>([
  [1, ["a1"], 1],
  [2, ["a1", "a2"], 1],
  [3, ["a1", "a2", "a3"], 2],
  [9, ["a1", "a2", "a3", "a4"], 3],
])("a list of %i usable threads reads no more pages than it needs", async (limit, expected, pages) => {
  const stored = [["a1", "b1", "a2"], ["b2", "a3"], ["a4"]];
  let read = 0;
  // Cast: only this member is read.
  const call = { mayUse: async (threadId: string) => threadId.startsWith("a") } as unknown as Call;
  const found = await usable(call, limit, async (cursor = "0") => {
    read++;
    const items = (stored[Number(cursor)] ?? []).map((threadId) => ({ threadId }));
    return { items, next: cursor === "2" ? null : String(Number(cursor) + 1) };
  });
  expect([found.map(({ threadId }) => threadId), read]).toEqual([expected, pages]);
});
