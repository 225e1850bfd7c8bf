import { createHost, type LlmHandler, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { expect, test } from "vitest";
import { changedThreads } from "../../src/studio/reading/changed-threads.ts";
import { threadReader } from "../../src/studio/reading/thread-reader.ts";
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
  const rows = (await threadReader(store)("long"))?.rows ?? [];
  const summaries = rows.filter(({ marks }) => marks.includes("summary"));
  expect(summaries.length).toBeGreaterThan(0);
  for (const row of summaries) expect(row).toMatchObject({ kind: "system", words: "They greeted." });
  expect(rows.filter(({ kind }) => kind === "assistant")).toHaveLength(8);
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
