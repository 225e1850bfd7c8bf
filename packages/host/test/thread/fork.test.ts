import { describe, expect, test } from "vitest";
import { EventRefusedError, ThreadExistsError, ThreadUnknownError } from "@colloquy/host";
import { calls, echo, entriesOf, errorOf, held, journalOf, says, settle, stage, texts } from "../stage.ts";

describe("a fork", () => {
  test("goes on from a turn of its own, and leaves the thread that it is of as it was", async () => {
    const { host, store } = stage({ script: [says("1"), says("2"), says("3"), says("fork")] });
    const thread = host.thread("one");
    for (const question of ["one", "two", "three"]) await thread.ask(question);
    const before = await entriesOf(store, "one");
    const { thread: fork, left } = await thread.fork({ turn: 2, metadata: { copy: true } });
    expect(left).toEqual({ effects: [], asks: [], entries: [] });
    expect(await texts(fork)).toEqual(["one", "1", "two", "2"]);
    expect((await fork.state())?.context).toMatchObject({
      threadId: fork.id,
      metadata: { copy: true },
      forkedFrom: { threadId: "one", turn: 2 },
    });
    expect((await fork.ask("else")).text).toBe("fork");
    expect(await entriesOf(store, "one")).toEqual(before);
    expect(await texts(thread)).toHaveLength(6);
  });

  test("leaves behind what is under way, says so, and runs nothing again", async () => {
    const { host, model } = stage({
      tools: [{ ...echo, run: () => new Promise(() => {}) }],
      script: [says("1"), calls(["echo", { text: "x" }]), says("on its own")],
      machine: { overlap: { type: "queue", max: 5 } },
    });
    const thread = host.thread();
    await thread.ask("one");
    thread.ask("two", { askId: "open" }).catch(() => {});
    thread.ask("three", { askId: "waits" }).catch(() => {});
    await settle();
    const { thread: fork, left } = await thread.fork({ threadId: "copy" });
    expect(left.effects).toEqual(["default/2.1.0#1"]);
    expect(left.asks).toEqual(expect.arrayContaining(["open", "waits"]));
    expect(fork.id).toBe("copy");
    expect(await texts(fork)).toEqual(["one", "1"]);
    expect((await fork.ask("go on")).text).toBe("on its own");
    expect(model.calls).toHaveLength(3);
  });

  test("of a turn or a thread that is not there, or over one that is, is refused", async () => {
    const model = held();
    const { host, store } = stage({ script: [says("1"), says("2"), model.step] });
    await host.ask("one", { threadId: "one" });
    await host.ask("two", { threadId: "two" });
    expect(await errorOf(host.thread("one").fork({ turn: 7 }))).toBeInstanceOf(EventRefusedError);
    expect(await errorOf(host.thread("none").fork())).toBeInstanceOf(ThreadUnknownError);
    const before = await entriesOf(store, "two");
    const asked = host.ask("go on", { threadId: "two" });
    await settle();
    expect(await errorOf(host.thread("one").fork({ threadId: "two" }))).toBeInstanceOf(ThreadExistsError);
    model.answer(says("3"));
    expect(await asked).toMatchObject({ text: "3", turn: 2 });
    for (const open of [true, false]) {
      if (!open) await host.thread("two").close();
      expect(await errorOf(host.thread("one").fork({ threadId: "two" }))).toBeInstanceOf(ThreadExistsError);
    }
    expect((await entriesOf(store, "two")).slice(0, before.length)).toEqual(before);
  });

  test("can be made of a thread that another host holds", async () => {
    const model = held();
    const first = stage({ script: [says("1"), model.step] });
    await first.host.ask("one");
    first.host.ask("two").catch(() => {});
    await settle();
    const second = first.another();
    expect(await texts((await second.host.thread().fork()).thread)).toEqual(["one", "1"]);
  });
});

test("the journal of a fork says whence it came", async () => {
  const { host, store } = stage({ script: [says("1")] });
  await host.ask("one");
  const { thread } = await host.thread().fork();
  expect((await journalOf(store, thread.id)).at(-1)).toBe("thread.forked");
});
