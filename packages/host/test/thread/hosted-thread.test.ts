import { ThreadUnknownError } from "@colloquy/host";
import { textOf, messagesOf, turnsOf, type RoundAppended, toolCallsOf } from "@colloquy/machine";
import { lastTurns, checkPrompt } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import { errorOf, held, journalOf, says, settle, stage, texts, calls, echo } from "../stage.ts";

describe("a thread", () => {
  test("shows what is pinned, and goes on behind another turn", async () => {
    const machine = { policy: lastTurns(1) };
    const { host, model } = stage({ machine, script: ["1", "2", "3", "4", "5"].map(says) });
    const thread = host.thread();
    await thread.ask("one");
    await thread.pin("1.0");
    await thread.ask("two");
    await thread.ask("three");
    await thread.unpin("1.0");
    await thread.ask("four");
    await thread.moveHead(2);
    await thread.ask("five");
    expect(model.calls.map(({ messages }) => messages.map(textOf).join())).toEqual([
      "one",
      "one,1,two",
      "one,two,2,three",
      "three,3,four",
      "two,2,five",
    ]);
    expect((await thread.explain())?.units.map(({ id, shown }) => `${id} ${shown}`)).toEqual([
      "1.0 out",
      "1.1 out",
      "2.0 out",
      "2.1 out",
      "5.0 whole",
      "5.1 whole",
    ]);
    expect(await host.thread("none").explain()).toBeNull();
    expect(await errorOf(thread.pin("9.9"))).toMatchObject({ name: "EventRefusedError", refusal: { kind: "unknown" } });
  });

  test("is not made by calls that need an existing one", async () => {
    const { host, store } = stage();
    expect(await errorOf(host.thread("t").cancel())).toBeInstanceOf(ThreadUnknownError);
    expect((await store.list()).threads).toEqual([]);
    await host.thread("t").append({ role: "user", content: "x" });
    expect(await journalOf(store, "t")).toEqual(["thread.started", "message.appended"]);
  });

  test("says why it refuses", async () => {
    const { host } = stage();
    const thread = host.thread();
    await thread.start();
    expect(await errorOf(thread.cancel())).toMatchObject({ name: "EventRefusedError", refusal: { kind: "stale" } });
    const at = 1;
    expect(await thread.send({ type: "head.moved", at, to: 7 })).toMatchObject({
      handled: false,
      refusal: { kind: "unknown" },
    });
    expect(await thread.send({ type: "checkpoint.named", at, name: "here" })).toMatchObject({
      handled: true,
      entry: { seq: 1 },
    });
    // A caller without types may pass this.
    const nonsense = { type: "checkpoint.named", at } as unknown as Parameters<typeof thread.send>[0];
    expect(await thread.send(nonsense)).toMatchObject({ handled: false, refusal: { kind: "invalid" } });
  });

  test("cancels its open turn with the shown part, whichever host asked", async () => {
    const model = held();
    const { host } = stage({ script: [model.step] });
    const handle = host.ask("hi");
    await settle();
    model.show("ha");
    await host.thread().cancel("closing time");
    expect(await errorOf(handle)).toMatchObject({ reason: "closing time", summary: { text: "ha" } });
  });
});

test("threads do not wait for each other", async () => {
  const model = held();
  const { host } = stage({ script: [model.step, says("b")] });
  const first = host.ask("hi", { threadId: "a" });
  await settle();
  expect((await host.ask("hi", { threadId: "b" })).text).toBe("b");
  model.answer(says("a"));
  expect((await first).text).toBe("a");
});

test("a thread shows its state after any entry, and how it differs after another", async () => {
  const { host } = stage({ script: [says("1"), says("2")] });
  const thread = host.thread();
  await thread.ask("one");
  await thread.ask("two");
  expect((await thread.at(0)).context.seq).toBe(0);
  const then = await thread.at(2);
  expect(then.value).toBe("completed");
  expect(messagesOf(then).map(textOf)).toEqual(["one", "1"]);
  expect(await thread.at(4)).toEqual(await thread.state());
  expect(await thread.difference(2, 4)).toMatchObject({ before: 2, after: 4, added: [2], removed: [] });
  expect(await thread.difference(4, 2)).toMatchObject({ added: [], removed: [2] });
  for (const seq of [-1, 5, 0.5]) expect(String(await errorOf(thread.at(seq)))).toMatch(/entries 0 to 4/);
});

const talk = (...answers: readonly string[]) => stage({ script: answers.map(says), thread: { system: "Be kind." } });

test("a turn by hand, a score, metadata, and how much was spoken are written", async () => {
  const { host, store } = talk("1");
  const thread = host.thread();
  await thread.addTurn([
    { role: "user", content: "by hand" },
    { role: "assistant", content: "written" },
  ]);
  await thread.annotate(1, "score", 0.5, { by: "ann" });
  await thread.truncate(1, 3);
  await thread.setMetadata({ title: "A thread" });
  const state = await thread.state();
  expect(await texts(thread)).toEqual(["by hand", "wri"]);
  expect(state?.context.metadata).toEqual({ title: "A thread" });
  expect(state === null ? [] : turnsOf(state)[0]?.annotations).toMatchObject([
    { name: "score", value: 0.5, metadata: { by: "ann" } },
  ]);
  expect(await host.threads({ metadata: { title: "A thread" } })).toMatchObject({
    threads: [{ threadId: "default" }],
    next: null,
  });
  expect(await journalOf(store)).toEqual([
    "thread.started",
    "turn.added",
    "turn.annotated",
    "answer.truncated",
    "metadata.changed",
  ]);
});

const reply: RoundAppended["reply"] = {
  content: "Let me see.",
  toolCalls: [{ id: "call_0", name: "elsewhere", arguments: "{}" }],
};
const results: RoundAppended["results"] = [{ outcome: "completed", content: "A heron was seen." }];

describe("a round that is appended through a host", () => {
  test("makes a thread, lets its journal rise, once, and is shown, found and kept", async () => {
    const first = stage({ script: [says("ok")] });
    const thread = first.host.thread();
    await Promise.all([thread.appendRound(reply, results, { from: "elsewhere" }), thread.appendRound(reply, results)]);
    expect(await journalOf(first.store)).toEqual(["thread.started", "round.appended", "round.appended"]);
    await thread.ask("hi");
    expect(checkPrompt(first.model.calls[0]?.messages ?? [])).toBeNull();
    expect(first.model.calls[0]?.messages.map(textOf)).toEqual([
      "Let me see.",
      "A heron was seen.",
      "Let me see.",
      "A heron was seen.",
      "hi",
    ]);
    const { hits } = await first.host.search("heron");
    expect(hits.map(({ seq }) => seq)).toEqual([2, 1]);
    const entries = await thread.exportJournal();
    const copy = await stage().host.importJournal(entries, { threadId: "copy" });
    expect(await copy.state()).not.toBeNull();
    await thread.redact({ message: "1.0" });
    expect((await first.host.search("heron")).hits.map(({ seq }) => seq)).toEqual([2]);
  });

  test("comes after the round that is under way", async () => {
    const model = held();
    const { host, model: scripted } = stage({ tools: [echo], script: [model.step, says("done")] });
    const asked = host.ask("hi");
    await settle();
    await host.thread().send({ type: "round.appended", at: 1, reply, results });
    model.answer(calls(["echo", { text: "own" }]));
    await asked;
    expect(scripted.calls[1]?.messages.map(textOf)).toEqual(["hi", "", "own", "Let me see.", "A heron was seen."]);
    const state = await host.thread().state();
    const ids = state === null ? [] : messagesOf(state).flatMap(toolCallsOf);
    expect(new Set(ids.map(({ callId }) => callId)).size).toBe(2);
  });
});

test.each([
  ["is open", false],
  ["is not open", true],
])("an error of the function that looks at a thread is its caller's, if the thread %s", async (_, isClosed) => {
  const reported: unknown[] = [];
  const { host } = stage({ script: [says("1")], onObserverError: (error) => reported.push(error) });
  await host.ask("one");
  const thread = host.thread();
  if (isClosed) await thread.close();
  let looks = 0;
  const look = (): never => {
    looks++;
    throw new Error("my own");
  };
  expect(await errorOf(thread.look(look))).toMatchObject({ message: "my own" });
  expect([looks, reported]).toEqual([1, []]);
});
