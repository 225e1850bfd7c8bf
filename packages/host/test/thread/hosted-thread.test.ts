import { textOf } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import { EventRefusedError, ThreadExistsError, ThreadUnknownError } from "@colloquy/host";
import { errorOf, held, journalOf, says, settle, stage } from "../stage.ts";

describe("a thread", () => {
  test("is begun with what it was started with, once", async () => {
    const { host, model } = stage({ script: [says("ok")], thread: { system: "of the host" } });
    const thread = host.thread("t");
    expect(await thread.state()).toBeNull();
    await thread.start({
      system: "of the thread",
      seed: [{ role: "user", content: "earlier" }],
      metadata: { topic: "x" },
      model: { temperature: 0 },
    });
    expect(await errorOf(thread.start())).toBeInstanceOf(ThreadExistsError);
    await thread.ask("now");
    expect(model.calls[0]?.messages.map(textOf)).toEqual(["of the thread", "earlier", "now"]);
    expect(model.calls[0]?.model).toEqual({ temperature: 0 });
    expect((await thread.state())?.context.metadata).toEqual({ topic: "x" });
  });

  test("that was not started begins with what the host says", async () => {
    const { host, model } = stage({ script: [says("ok"), says("ok")], thread: { system: "of the host" } });
    await host.ask("hi");
    const fresh = host.ask("hi", { threadId: "new" });
    await fresh;
    expect(fresh.threadId).toBe("thread-3");
    expect(model.calls.map(({ messages }) => messages.map(textOf))).toEqual([
      ["of the host", "hi"],
      ["of the host", "hi"],
    ]);
  });

  test("can't be begun with what is no beginning", async () => {
    const { host, store } = stage();
    // As from a caller without types.
    const start = (input: unknown) => errorOf(host.thread("t").start(input as object));
    expect(await start({ system: 3 })).toBeInstanceOf(EventRefusedError);
    expect(await start({ seed: [{ role: "tool", toolCallId: "x", content: "y" }] })).toMatchObject({
      name: "SeedError",
    });
    expect(await start({ metadata: { big: 1n } })).toMatchObject({ refusal: { kind: "invalid" } });
    expect((await store.list()).threads).toEqual([]);
  });

  test("takes messages and system prompts between turns", async () => {
    const { host, model } = stage({ script: [says("ok")] });
    const thread = host.thread();
    await thread.append({ role: "user", content: "by the way" });
    await thread.changeSystem("be brief");
    await thread.ask("hi");
    expect(model.calls[0]?.messages.map(textOf)).toEqual(["be brief", "by the way", "hi"]);
  });

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

  test("is not made by what means nothing without it", async () => {
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
    // As from a caller without types.
    const nonsense = { type: "checkpoint.named", at } as unknown as Parameters<typeof thread.send>[0];
    expect(await thread.send(nonsense)).toMatchObject({ handled: false, refusal: { kind: "invalid" } });
  });

  test("cancels its open turn, with what had been shown, whoever asked", async () => {
    const model = held();
    const { host } = stage({ script: [model.step] });
    const handle = host.ask("hi");
    await settle();
    model.show("ha");
    await host.thread().cancel("closing time");
    expect(await errorOf(handle)).toMatchObject({ reason: "closing time", summary: { text: "ha" } });
  });

  test("keeps its lease across turns, and what it knows is what the journal says", async () => {
    const { host, another } = stage({ script: [says("1"), says("2")] });
    await host.ask("one");
    await host.ask("two");
    const live = await host.thread().state();
    expect(await another().host.thread().state()).toEqual(live);
  });

  test("needs an id", () => {
    const { host } = stage();
    expect(() => host.thread("")).toThrow(/not empty/);
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
