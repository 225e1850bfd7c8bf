import { describe, expect, test } from "vitest";
import { EventRefusedError, ImportRefusedError } from "@colloquy/host";
import type { Host } from "@colloquy/host";
import { entriesOf, errorOf, journalOf, says, stage } from "../stage.ts";

const self: { self?: unknown } = {};
self.self = self;

/** Values that JSON cannot represent, with the error about each. */
const values: readonly (readonly [string, unknown, RegExp])[] = [
  ["NaN", Number.NaN, / is NaN, which JSON has no word for/],
  ["Infinity", Number.NEGATIVE_INFINITY, / is -Infinity, which JSON has no word for/],
  ["undefined in a list", [1, undefined], /\.1 is undefined, which/],
  ["a function", () => 1, / is a function, which/],
  ["a symbol", Symbol("s"), / is a symbol, which/],
  ["a BigInt", 1n, / is a bigint, which/],
  ["a date", new Date(0), / is a Date, which JSON has no word for; give what it says as text/],
  ["a map", new Map(), / is a Map, which/],
  ["what holds itself", self, /\.… \(25\d levels down\) is nested too deep, or holds itself/],
];

/** The doors of a host through which somebody hands something in, with the path that is named. */
const doors: readonly (readonly [string, string, (host: Host, value: unknown) => PromiseLike<unknown>])[] = [
  // As from callers without types.
  [
    "ask, its metadata",
    "metadata.deep.value",
    (host, value) => host.ask("hi", { metadata: { deep: { value } } as never }),
  ],
  ["ask, its model", "model.value", (host, value) => host.ask("hi", { model: { value } as never })],
  ["ask, its input", "input.0.value", (host, value) => host.ask([{ type: "data", field: "x", value: value as never }])],
  ["start", "metadata.value", (host, value) => host.thread().start({ metadata: { value } as never })],
  ["setMetadata", "metadata.value", (host, value) => host.thread().setMetadata({ value } as never)],
  ["annotate", "value", (host, value) => host.thread().annotate(1, "score", value as never)],
  [
    "append",
    "message.metadata.value",
    (host, value) => host.thread().append({ role: "user", content: "x", metadata: { value } as never }),
  ],
  [
    "importMessages, its turns",
    "messages.0.metadata.value",
    (host, value) => host.importMessages({ turns: [[{ role: "user", content: "x", metadata: { value } as never }]] }),
  ],
];

describe.each(doors)("what JSON has no word for is refused by %s", (_, path, enter) => {
  test.each(values)("%s, in words that name its path", async (_name, value, reason) => {
    const { host, store } = stage({ script: [says("ok")] });
    await host.ask("hi", { threadId: "other" });
    const error = await errorOf(enter(host, value));
    expect(error instanceof EventRefusedError || error instanceof ImportRefusedError).toBe(true);
    expect(String(error)).toMatch(reason);
    expect(String(error)).toContain(value === self ? "self.self" : path);
    expect(await journalOf(store)).toEqual([]);
  });
});

describe("what is handed in", () => {
  test("may leave members undefined, which are absent then", async () => {
    const { host, store } = stage({ script: [says("ok")] });
    await host.ask("hi", { metadata: { a: undefined, b: 1 } });
    expect((await entriesOf(store))[1]?.event).toMatchObject({ metadata: { b: 1 } });
  });

  test("as a journal is refused with the place", async () => {
    const { host } = stage();
    const entries = [
      { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t", metadata: { n: Number.NaN } } },
    ];
    expect(String(await errorOf(host.importJournal(entries)))).toMatch(/0\.event\.metadata\.n is NaN/);
  });
});

describe("an imported journal", () => {
  test("whose answer names what was not waited for is refused with seq, type and id, and nothing is stored", async () => {
    const { host, store } = stage({ script: [says("ok")] });
    await host.ask("hi", { threadId: "t" });
    const entries = (await host.thread("t").exportJournal()).map((entry) =>
      entry.event.type === "llm.completed" ? { ...entry, event: { ...entry.event, effectId: "t/1.1#9" } } : entry,
    );
    const error = await errorOf(host.importJournal(entries, { threadId: "copy" }));
    expect(error).toBeInstanceOf(ImportRefusedError);
    expect(error).toMatchObject({ index: 2 });
    expect(String(error)).toMatch(
      /entry 2: "llm\.completed" answers "t\/1\.1#9", which was not awaited; outstanding was "t\/1\.1#1"/,
    );
    expect(await journalOf(store, "copy")).toEqual([]);
  });

  test("that went through a fork and a redaction is taken, also under another id", async () => {
    const first = stage({ script: [says("1"), says("2")] });
    await first.host.ask("one");
    await first.host.ask("two");
    const { thread } = await first.host.thread().fork({ turn: 1, threadId: "fork" });
    await thread.redact({ turn: 1 });
    const there = stage({ machine: {} });
    for (const each of [first.host.thread(), thread]) {
      const copy = await there.host.importJournal(await each.exportJournal(), { threadId: `copy of ${each.id}` });
      expect((await copy.state())?.context.conversation.turns.length).toBe(each === thread ? 1 : 2);
    }
  });
});
