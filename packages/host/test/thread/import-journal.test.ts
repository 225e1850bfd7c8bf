import { ImportRefusedError, ThreadExistsError } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { overriding } from "../gated-store.ts";
import { calls, echo, errorOf, says, stage, texts, during, stored } from "../stage.ts";

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
    // Callers in JavaScript may pass anything.
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
    const elsewhere = errorOf(first.another().host.importJournal(exported));
    expect(await during(first.clock, 400, elsewhere)).toBeInstanceOf(ThreadExistsError);
    await first.host.thread().close();
    expect(await errorOf(first.host.importJournal(exported))).toBeInstanceOf(ThreadExistsError);
    expect((await first.host.ask("two")).text).toBe("2");
  });

  test("is stored all at once, or not at all", async () => {
    const source = stage({ script: [says("1")] });
    await source.host.ask("one");
    const exported = await source.host.thread().exportJournal();
    const { clock, inner } = stored();
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

describe("a conversation that was had elsewhere", () => {
  test("becomes a thread that begins with its turns", async () => {
    const { host, model } = stage({ script: [says("on")] });
    const turns = [
      [
        { role: "user" as const, content: "one" },
        { role: "assistant" as const, content: "1" },
      ],
      [{ role: "user" as const, content: "two" }],
    ];
    const thread = await host.importMessages({ system: "Be kind.", turns }, { metadata: { from: "elsewhere" } });
    expect((await thread.ask("three")).turn).toBe(3);
    expect(model.calls[0]?.messages.map(textOf)).toEqual(["Be kind.", "one", "1", "two", "three"]);
    const bad = [...turns, [{ role: "tool" as const, callId: "x", name: "x", content: "lost" }]];
    const refused = await errorOf(host.importMessages({ turns: bad as unknown as typeof turns }, { threadId: "bad" }));
    expect(refused).toMatchObject({ name: "ImportRefusedError", index: 3 });
    expect(await host.thread("bad").state()).toBeNull();
  });

  test.each<[string, unknown, RegExp, number | null]>([
    ["nothing", undefined, /list of turns/, null],
    ["the problem that a reader found", { _tag: "Left", left: { index: 0, reason: "none" } }, /list of turns/, null],
    ["a text for turns", { turns: "x" }, /list of turns; give \{ system, turns \}/, null],
    ["a turn that is no list", { turns: [[{ role: "user", content: "one" }], "x"] }, /turn 2: .*messages/, 2],
    ["a message that is none", { turns: [[7]] }, /turn 1: /, 1],
    ["what JSON can't say", { turns: [[{ role: "user", content: 1n }]] }, /turn 1: .*JSON/, 1],
    ["a system prompt that is none", { system: 7, turns: [] }, /system/, 0],
  ])("that is none is refused in words: %s", async (_, conversation, words, index) => {
    const { host } = stage();
    // Callers in JavaScript may pass anything.
    const given = conversation as Parameters<typeof host.importMessages>[0];
    const refused = await errorOf(host.importMessages(given, { threadId: "bad" }));
    expect(refused).toBeInstanceOf(ImportRefusedError);
    expect(refused).toMatchObject({ index, message: expect.stringMatching(words) });
    expect(await host.thread("bad").state()).toBeNull();
  });
});
