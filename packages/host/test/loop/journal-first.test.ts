import { memoryStore, type Store, StoreError } from "@colloquy/host";
import { describe, expect, test } from "vitest";
import { gated, overriding, type GatedStore } from "../gated-store.ts";
import {
  calls,
  entriesOf,
  errorOf,
  journalOf,
  manualClock,
  says,
  settle,
  stage,
  answered,
  plain,
  held,
} from "../stage.ts";

// Parallel tools start and end at about the same time. Outcomes that wait for a write are stored by one write.

const clock = manualClock();

/** Makes a batch of four calls, each of which the test answers. */
const four = (recovery?: "once") => {
  const answers: (() => void)[] = [];
  const run = () => new Promise<string>((resolve) => answers.push(() => resolve("done")));
  const fetch = plain("fetch", run, recovery === undefined ? {} : { recovery });
  const script = [calls(["fetch", {}], ["fetch", {}], ["fetch", {}], ["fetch", {}]), says("all done")];
  return { tools: [fetch], script, answers };
};

const starts = Array<string>(4).fill("tool.started").join();

const results = (count: number): string => Array<string>(count).fill("tool.completed").join();

describe("results that wait together", () => {
  test("are one append, and each is performed and shown only after it", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four();
    const { host, model } = stage({ clock, store: gate.store, tools, script });
    const handle = host.ask("go");
    const shown: number[] = [];
    const reading = (async () => {
      for await (const part of handle) if (part.type === "toolResult") shown.push(part.position);
    })();
    await settle();
    while (answers.length < 4) await gate.pass();
    for (const index of [2, 0, 3, 1]) answers[index]?.();
    await settle();
    expect(gate.waiting).toEqual([results(1)]);
    await gate.pass();
    expect([gate.waiting, shown, model.calls.length]).toEqual([[results(3)], [2], 1]);
    await gate.pass();
    expect([gate.waiting, shown, model.calls.length]).toEqual([["llm.completed"], [2, 0, 3, 1], 2]);
    await gate.pass();
    await reading;
    expect((await handle).text).toBe("all done");
    expect((await entriesOf(gate.store)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    await host.close();
  });

  test("so are the starts of once-only tools, none of which runs earlier", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four("once");
    const { host } = stage({ clock, store: gate.store, tools, script });
    const handle = host.ask("go");
    await settle();
    for (const type of ["thread.started", "ask.received", "llm.completed"]) {
      expect(gate.waiting).toEqual([type]);
      await gate.pass();
    }
    expect([gate.waiting, answers.length]).toEqual([[starts], 0]);
    await gate.pass();
    expect([gate.waiting, answers.length]).toEqual([[], 4]);
    for (const answer of answers) answer();
    await settle();
    while (gate.waiting.length > 0) await gate.pass();
    expect((await handle).text).toBe("all done");
    await host.close();
  });

  test("a cancel after some of them is decided after them, and the rest is stale", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four();
    const { host } = stage({ clock, store: gate.store, tools, script });
    const handle = host.ask("go");
    await settle();
    while (answers.length < 4) await gate.pass();
    for (const index of [0, 1, 2]) answers[index]?.();
    await settle();
    handle.abort();
    answers[3]?.();
    await settle();
    await gate.pass();
    expect(gate.waiting).toEqual([results(2)]);
    await gate.pass();
    expect(gate.waiting).toEqual(["cancel.requested"]);
    await gate.pass();
    expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError" });
    await host.close();
  });

  test("a failed append of several stores none of them, and the next use of the thread reports each as unknown", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four();
    const first = stage({ clock, store: gate.store, tools, script });
    const handle = first.host.ask("go", { askId: "a" });
    await settle();
    while (answers.length < 4) await gate.pass();
    for (const answer of answers) answer();
    await settle();
    await gate.pass();
    await gate.pass(new Error("disk full"));
    expect(await errorOf(handle)).toMatchObject({ message: expect.stringContaining("append entries") });
    expect(await journalOf(gate.store)).toHaveLength(4);
    const again = first.another({ tools, script: [says("all done")] });
    const going = again.host.ask("go", { askId: "a" });
    await settle();
    // The unknown outcomes of the three are journalled together, too.
    expect(gate.waiting).toEqual(["tool.failed,tool.failed,tool.failed"]);
    while (gate.waiting.length > 0) await gate.pass();
    expect((await going).text).toBe("all done");
    await again.host.close();
    await first.host.close();
  });

  test("starts that were being stored together when the thread was closed have each come to nothing", async () => {
    const gate = gated(memoryStore({ clock }));
    const { tools, script, answers } = four("once");
    const { host, store } = stage({ clock, store: gate.store, tools, script });
    host.ask("go").catch(() => {});
    await settle();
    for (let index = 0; index < 3; index++) await gate.pass();
    expect(gate.waiting).toEqual([starts]);
    const closing = host.close();
    await gate.pass();
    expect(gate.waiting).toEqual(["tool.failed,tool.failed,tool.failed,tool.failed"]);
    await gate.pass();
    await closing;
    expect(answers).toHaveLength(0);
    const failures = Array<string>(4).fill("tool.failed interrupted");
    expect((await journalOf(store)).slice(3)).toEqual([...starts.split(","), ...failures]);
  });

  test("a thread that is closed while a start and its timeout are stored together fails only the calls without an outcome", async () => {
    const gate = gated(memoryStore({ clock }));
    const run = (): Promise<never> => new Promise(() => {});
    const tools = [
      plain("hasty", run, { recovery: "once", timeoutMs: 500 }),
      plain("patient", run, { recovery: "once" }),
    ];
    const script = [calls(["hasty", {}], ["patient", {}])];
    const { host, store } = stage({ clock, store: gate.store, tools, script });
    host.ask("go").catch(() => {});
    await settle();
    await gate.pass();
    await gate.pass();
    const tagged = host.thread().setMetadata({ tagged: true });
    await gate.pass();
    expect(gate.waiting).toEqual(["metadata.changed"]);
    await clock.advance(500);
    await gate.pass();
    await tagged;
    expect(gate.waiting).toEqual(["tool.started,tool.started,tool.failed"]);
    const closing = host.close();
    await gate.pass();
    expect(gate.waiting).toEqual(["tool.failed"]);
    await gate.pass();
    await closing;
    expect((await journalOf(store)).slice(4)).toEqual([
      "tool.started",
      "tool.started",
      "tool.failed failed",
      "tool.failed interrupted",
    ]);
  });

  test("a store that answers at once is given the same entries", async () => {
    const appends: string[] = [];
    const inner: Store = memoryStore({ clock });
    const store = overriding(inner, {
      append: (lease, seq, entries) => {
        appends.push(entries.map(({ event }) => event.type).join());
        return inner.append(lease, seq, entries);
      },
    });
    const { tools, script, answers } = four();
    const { host } = stage({ clock, store, tools, script });
    const handle = host.ask("go");
    await settle();
    for (const answer of answers) answer();
    expect((await handle).text).toBe("all done");
    expect(appends.join().split(",")).toEqual([...answered, ...results(4).split(","), "llm.completed"]);
    await host.close();
  });
});

const slow = (): GatedStore => gated(memoryStore({ clock }));

describe("nothing is performed before it is journalled", () => {
  test("one entry at a time, in the order of the events", async () => {
    const gate = slow();
    const { host } = stage({ clock, store: gate.store, script: [held().step] });
    const thread = host.thread();
    const appended = [1, 2, 3].map((number) => thread.append({ role: "user", content: `${number}` }));
    await settle();
    for (let index = 0; index < 4; index++) {
      expect(gate.waiting).toHaveLength(1);
      await gate.pass();
    }
    await Promise.all(appended);
    expect((await thread.state())?.context.conversation.appended.map(({ parts }) => parts[0])).toMatchObject([
      { text: "1" },
      { text: "2" },
      { text: "3" },
    ]);
    await host.close();
  });

  test("a cancel stops what is shown at once, and a once-only tool that has not started never does", async () => {
    const gate = slow();
    let runs = 0;
    const once = plain("once", () => runs++, { recovery: "once" });
    const { host } = stage({ clock, store: gate.store, tools: [once], script: [calls(["once", {}])] });
    const handle = host.ask("go");
    await settle();
    for (const type of ["thread.started", "ask.received"]) {
      expect(gate.waiting).toEqual([type]);
      await gate.pass();
    }
    // The cancel is in the mailbox before the reply is stored and the tool could start.
    handle.abort();
    await gate.pass();
    expect(gate.waiting).toEqual(["cancel.requested"]);
    await gate.pass();
    expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError" });
    expect([gate.waiting, runs]).toEqual([[], 0]);
    await host.close();
  });

  test("pieces that come while a cancel is being stored are neither shown nor kept", async () => {
    const gate = slow();
    const model = held();
    const { host } = stage({ clock, store: gate.store, script: [model.step] });
    const handle = host.ask("go");
    await settle();
    await gate.pass();
    await gate.pass();
    model.show("kept");
    handle.abort();
    model.show(", lost");
    model.answer(says("kept, lost and all"));
    await settle();
    await gate.pass();
    const error = await errorOf(handle);
    expect(error).toMatchObject({ summary: { text: "kept" } });
    const texts: string[] = [];
    for await (const part of handle) if (part.type === "text.delta") texts.push(part.text);
    expect(texts).toEqual(["kept"]);
    await host.close();
  });
});

test("a cancel during a tool call carries nothing of a reply that an answer from outside replaced", async () => {
  const gate = slow();
  const model = held();
  const wait = plain("wait", () => new Promise(() => {}));
  const { host, model: asked } = stage({ clock, store: gate.store, tools: [wait], script: [model.step] });
  const handle = host.ask("go");
  await settle();
  await gate.pass();
  await gate.pass();
  model.show("of this process");
  const thread = host.thread();
  const tagged = thread.setMetadata({ tagged: true });
  await settle();
  const { id: effectId, promptDigest } = asked.calls[0] ?? { id: "", promptDigest: "" };
  const reply = { toolCalls: [{ id: null, name: "wait", arguments: "{}" }] };
  const answer = { type: "llm.completed", at: clock.now(), effectId, promptDigest, reply } as const;
  const sent = thread.send({ ...answer, finishReason: "tool_calls" });
  await settle();
  model.answer(says("of this process"));
  await settle();
  while (gate.waiting.length > 0) await gate.pass();
  await tagged;
  expect(await sent).toMatchObject({ handled: true });
  handle.abort();
  await settle();
  await gate.pass();
  expect(await errorOf(handle)).toMatchObject({ name: "TurnCancelledError" });
  const { event } = (await entriesOf(gate.store)).at(-1) ?? {};
  expect(event).toMatchObject({ type: "cancel.requested" });
  expect(event).not.toHaveProperty("partial");
  await host.close();
});

test("an answer from outside stops the model call that it answers", async () => {
  const model = held();
  const { host, model: asked } = stage({ script: [model.step] });
  const handle = host.ask("go");
  await settle();
  const { id: effectId, promptDigest } = asked.calls[0] ?? { id: "", promptDigest: "" };
  const reply = { content: "from outside" };
  const answer = { type: "llm.completed", at: 1, effectId, promptDigest, reply, finishReason: "stop" } as const;
  expect(await host.thread().send(answer)).toMatchObject({ handled: true });
  expect((await handle).text).toBe("from outside");
  expect(model.signal()?.aborted).toBe(true);
});

test("a thread that an observer closes at an entry starts none of the effects of that entry", async () => {
  const seen: string[] = [];
  const own = manualClock();
  const { host, model, store } = stage({
    clock: own,
    machine: { limits: { deadlineMs: 60_000 } },
    script: [says("unwanted")],
    observers: [
      {
        entry: ({ event }) => {
          if (event.type === "ask.received") void host.close();
        },
        signal: ({ type }) => void seen.push(type),
      },
    ],
  });
  expect(await errorOf(host.ask("go"))).toMatchObject({ name: "ThreadClosedError" });
  await settle();
  expect(await journalOf(store)).toEqual(["thread.started", "ask.received"]);
  expect([seen, model.calls, own.sleepers]).toEqual([[], [], 0]);
});

describe("an append that fails", () => {
  test("rejects the ask, performs nothing, and the next ask reads the journal again", async () => {
    const gate = slow();
    const { host, model } = stage({ clock, store: gate.store, script: [says("done")] });
    const handle = host.ask("go");
    await settle();
    await gate.pass();
    const cause = new Error("disk full");
    await gate.pass(cause);
    const error = await errorOf(handle);
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ cause, threadId: "default" });
    expect(model.calls).toHaveLength(0);
    const again = host.ask("go");
    await settle();
    await gate.pass();
    await gate.pass();
    expect((await again).text).toBe("done");
    expect(await journalOf(gate.store)).toEqual(["thread.started", "ask.received", "llm.completed"]);
    await host.close();
  });

  test("in the middle of a turn stops what is running, and asking again gets the turn", async () => {
    const gate = slow();
    const model = held();
    const { host } = stage({ clock, store: gate.store, script: [model.step, says("after all")] });
    const handle = host.ask("go", { askId: "a" });
    await settle();
    await gate.pass();
    await gate.pass();
    const waits = errorOf(host.thread().append({ role: "user", content: "too" }));
    await settle();
    await gate.pass(new Error("disk full"));
    expect(await errorOf(handle)).toBeInstanceOf(StoreError);
    expect(await waits).toBeInstanceOf(StoreError);
    expect(model.signal()?.aborted).toBe(true);
    const again = host.ask("go", { askId: "a" });
    await settle();
    await gate.pass();
    expect((await again).text).toBe("after all");
    await host.close();
  });

  test("is waited for when the host is closed", async () => {
    const gate = slow();
    const { host, model } = stage({ clock, store: gate.store, script: [says("unwanted")] });
    const handle = host.ask("go");
    await settle();
    await gate.pass();
    let closed = false;
    const closing = host.close().then(() => (closed = true));
    expect(await errorOf(handle)).toMatchObject({ name: "ThreadClosedError" });
    await settle();
    expect(closed).toBe(false);
    await gate.pass();
    await closing;
    expect(model.calls).toHaveLength(0);
    expect(await journalOf(gate.store)).toEqual(["thread.started", "ask.received"]);
    expect(await gate.store.acquire("default", "somebody", 1)).not.toBeNull();
  });
});
