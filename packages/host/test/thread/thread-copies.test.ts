import { messagesOf, textOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import {
  EventRefusedError,
  ImportRefusedError,
  memoryStore,
  SearchUnavailableError,
  ThreadExistsError,
  ThreadHeldError,
  ThreadUnknownError,
} from "@colloquy/host";
import type { HostedThread } from "@colloquy/host";
import { overriding } from "../gated-store.ts";
import { calls, echo, entriesOf, errorOf, held, journalOf, manualClock, says, settle, stage } from "../stage.ts";

const texts = async (thread: HostedThread): Promise<readonly string[]> => {
  const state = await thread.state();
  return state === null ? [] : messagesOf(state).map(textOf);
};

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

describe("a journal", () => {
  test("is exported whole and imported again, as it was or under another id", async () => {
    const { host } = stage({ tools: [echo], script: [calls(["echo", { text: "x" }]), says("1"), says("on")] });
    const thread = host.thread("one");
    await thread.ask("one");
    const exported = JSON.parse(JSON.stringify(await thread.exportJournal()));
    const elsewhere = stage({ tools: [echo], script: [says("on")] });
    const same = await elsewhere.host.importJournal(exported);
    expect(same.id).toBe("one");
    expect(await same.exportJournal()).toEqual(exported);
    expect(await same.state()).toEqual(await thread.state());
    expect(await same.ask("on", { askId: "on" })).toMatchObject({ turn: 2 });
    const copy = await host.importJournal(exported, { threadId: "new" });
    expect(copy.id).not.toBe("one");
    expect(JSON.stringify(await copy.exportJournal())).not.toContain("one/1.1");
    expect(await texts(copy)).toEqual(await texts(thread));
    expect(await copy.ask("on")).toMatchObject({ threadId: copy.id, turn: 2 });
  });

  test("goes on where it was, with what was under way", async () => {
    const model = held();
    const first = stage({ script: [model.step] });
    first.host.ask("one", { askId: "a" }).catch(() => {});
    await settle();
    const exported = await first.host.thread().exportJournal();
    const elsewhere = stage({ script: [says("there")] });
    const thread = await elsewhere.host.importJournal(exported, { threadId: "moved" });
    expect((await thread.ask("one", { askId: "a" })).text).toBe("there");
  });

  test.each<[string, (entries: unknown[]) => unknown, RegExp, number | null]>([
    ["no list", () => ({}), /list of entries/, null],
    ["empty", () => [], /empty/, 0],
    ["of a gap", (entries) => entries.toSpliced(1, 1), /entry 2 stands where 1 should/, 1],
    [
      "of an unknown event",
      (entries) => entries.with(2, { seq: 2, event: { type: "odd", at: 1 } }),
      /entry 2.*"odd"/,
      2,
    ],
    ["of an entry that is none", (entries) => entries.with(1, 7), /entry 1/, 1],
    [
      "of two beginnings",
      (entries) => [...entries, { ...Object(entries[0]), seq: entries.length }],
      /second beginning/,
      3,
    ],
    ["of a newer format", (entries) => entries.with(0, { ...Object(entries[0]), format: 99 }), /format 99/, 0],
    [
      "of an older format than there is",
      (entries) => entries.with(0, { ...Object(entries[0]), format: 0 }),
      /format/,
      0,
    ],
    [
      "of a move that the machine refuses",
      (entries) => [...entries, { seq: 3, event: { type: "head.moved", at: 9, to: 7 } }],
      /entry 3: "head\.moved" is refused here: no closed turn 7; there are 1 to 1.*export the journal again/,
      3,
    ],
    ["not JSON", (entries) => entries.with(1, 1n), /JSON/, null],
  ])("that is %s is refused by name, and nothing is stored", async (_, spoil, words, index) => {
    const { host } = stage({ script: [says("1")] });
    await host.ask("one");
    const good = JSON.parse(JSON.stringify(await host.thread().exportJournal())) as unknown[];
    const elsewhere = stage();
    // Callers in JavaScript hand in anything.
    const refused = await errorOf(elsewhere.host.importJournal(spoil(good) as readonly unknown[]));
    expect(refused).toBeInstanceOf(ImportRefusedError);
    expect(refused).toMatchObject({ index, message: expect.stringMatching(words) });
    expect((await elsewhere.host.threads()).threads).toEqual([]);
  });

  test("is never imported over a thread that is there, open or not, here or elsewhere", async () => {
    const first = stage({ script: [says("1"), says("2")] });
    await first.host.ask("one");
    const exported = await first.host.thread().exportJournal();
    expect(await errorOf(first.host.importJournal(exported))).toBeInstanceOf(ThreadExistsError);
    expect(await errorOf(first.another().host.importJournal(exported))).toBeInstanceOf(ThreadHeldError);
    await first.host.thread().close();
    expect(await errorOf(first.host.importJournal(exported))).toBeInstanceOf(ThreadExistsError);
    expect((await first.host.ask("two")).text).toBe("2");
  });

  test("is stored all at once, or not at all", async () => {
    const source = stage({ script: [says("1")] });
    await source.host.ask("one");
    const exported = await source.host.thread().exportJournal();
    const clock = manualClock();
    const inner = memoryStore({ clock });
    const appended: number[] = [];
    const store = overriding(inner, {
      append: async (...given) => {
        appended.push(given[2].length);
        throw new Error("full");
      },
    });
    const { host } = stage({ clock, store });
    expect(await errorOf(host.importJournal(exported))).toMatchObject({ name: "StoreError" });
    expect(appended).toEqual([exported.length]);
    expect((await host.threads()).threads).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });
});

describe("time travel", () => {
  test("shows the state behind any entry, and what is otherwise behind another", async () => {
    const { host } = stage({ script: [says("1"), says("2")] });
    const thread = host.thread();
    await thread.ask("one");
    await thread.ask("two");
    const then = await thread.at(2);
    expect(then.value).toBe("completed");
    expect(messagesOf(then).map(textOf)).toEqual(["one", "1"]);
    expect(await thread.at(4)).toEqual(await thread.state());
    expect(await thread.difference(2, 4)).toMatchObject({ before: 2, after: 4, added: [2], removed: [] });
    expect(await thread.difference(4, 2)).toMatchObject({ added: [], removed: [2] });
    for (const seq of [-1, 5, 0.5]) expect(String(await errorOf(thread.at(seq)))).toMatch(/entries 0 to 4/);
  });
});

describe("deleting", () => {
  test("leaves nothing, closes what is open here, and makes room for a new thread of that id", async () => {
    const model = held();
    const { host, store } = stage({ script: [says("1"), model.step, says("new")] });
    const thread = host.thread();
    await thread.ask("one");
    const asked = thread.ask("two");
    await settle();
    expect(await thread.delete()).toBe(true);
    expect(await errorOf(asked)).toMatchObject({
      name: "ThreadClosedError",
      message: expect.stringMatching(/deleted\. Asking again begins a new one/),
    });
    expect(model.signal()?.aborted).toBe(true);
    expect(await thread.state()).toBeNull();
    expect(await store.read("default")).toEqual([]);
    expect(await thread.delete()).toBe(false);
    expect(await thread.ask("again")).toMatchObject({ text: "new", turn: 1 });
  });

  test("is refused while another host holds the thread, and what is followed there goes on", async () => {
    const model = held();
    const machine = { overlap: { type: "queue", max: 5 } } as const;
    const first = stage({ machine, script: [model.step, says("2")] });
    const asked = first.host.ask("one");
    await settle();
    const second = first.another();
    expect(await errorOf(second.host.thread().delete())).toBeInstanceOf(ThreadHeldError);
    const followed = second.host.ask("two");
    await first.clock.advance(1_000);
    expect(await errorOf(second.host.thread().delete())).toBeInstanceOf(ThreadHeldError);
    model.answer(says("1"));
    expect((await asked).text).toBe("1");
    await first.clock.advance(1_000);
    expect((await followed).text).toBe("2");
  });
});

describe("all threads", () => {
  test("are listed and searched", async () => {
    const { host, clock } = stage({ script: [says("the queen"), says("the king")] });
    await host.ask("who", { threadId: "a" });
    await clock.advance(1);
    await host.ask("who", { threadId: "b" });
    expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(["b", "a"]);
    expect((await host.search("queen")).hits.map(({ threadId, seq }) => [threadId, seq])).toEqual([["a", 2]]);
  });

  test("can't be searched where the store can't, which is said", async () => {
    const clock = manualClock();
    const store = overriding(memoryStore({ clock }), {});
    delete store.search;
    expect(await errorOf(stage({ clock, store }).host.search("queen"))).toBeInstanceOf(SearchUnavailableError);
  });
});

test("the journal of a fork says whence it came", async () => {
  const { host, store } = stage({ script: [says("1")] });
  await host.ask("one");
  const { thread } = await host.thread().fork();
  expect((await journalOf(store, thread.id)).at(-1)).toBe("thread.forked");
});
