import {
  EventRefusedError,
  ImportRefusedError,
  type Host,
  AskRefusedError,
  createHost,
  type HostOptions,
  memoryStore,
  resultReader,
  tool,
} from "@colloquy/host";
import { checkedListing, checkedSearch, kinds, problemOfOptions } from "@colloquy/host/store";
import { ConfigurationError, conversationMachine } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { errorOf, journalOf, says, stage, manualClock } from "../stage.ts";

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

/** The ways to pass values to a host, with the path in the error. */
const doors: readonly (readonly [string, string, (host: Host, value: unknown) => PromiseLike<unknown>])[] = [
  // Callers without types may pass these.
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

describe.each(doors)("a value that JSON cannot express is refused by %s", (_, path, enter) => {
  test.each(values)("%s, with an error that names its path", async (_name, value, reason) => {
    const { host, store } = stage({ script: [says("ok")] });
    await host.ask("hi", { threadId: "other" });
    const error = await errorOf(enter(host, value));
    expect(error instanceof EventRefusedError || error instanceof ImportRefusedError).toBe(true);
    expect(String(error)).toMatch(reason);
    expect(String(error)).toContain(value === self ? "self.self" : path);
    expect(await journalOf(store)).toEqual([]);
  });
});

describe("a value passed to a host", () => {
  test("as a journal is refused with the place", async () => {
    const { host } = stage();
    const entries = [
      { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t", metadata: { n: Number.NaN } } },
    ];
    expect(String(await errorOf(host.importJournal(entries)))).toMatch(/0\.event\.metadata\.n is NaN/);
  });
});

describe("an imported journal", () => {
  test("whose answer names an unknown effect is refused with seq, type and id, and nothing is stored", async () => {
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

const clock = manualClock();

const hostOptions: HostOptions = {
  machine: conversationMachine({}),
  store: memoryStore({ clock }),
  llm: async () => says("ok"),
  clock,
  ids: { draw: (kind) => kind },
};

const definition = { name: "pay", description: "Pays.", input: { jsonSchema: {} }, run: () => null };

/** Removes the type, for values of callers without types. */
const untyped = (options: unknown): object => options as object;

describe("an option that is misspelt", () => {
  test.each([
    ['tool "pay"', "aproval", () => tool({ ...definition, ...untyped({ aproval: "always" }) })],
    ["createHost", "whenheld", () => createHost({ ...hostOptions, ...untyped({ whenheld: "reject" }) })],
    ["createHost: thread", "sytem", () => createHost({ ...hostOptions, thread: untyped({ sytem: "be kind" }) })],
    ["resultReader", "chars", () => resultReader(untyped({ chars: 500 }))],
    ["memoryStore", "path", () => memoryStore({ clock, ...untyped({ path: "x" }) })],
  ])("of %s is refused: %s", (of, name, make) => {
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(new RegExp(`^${of} has no option "${name}"; there are `));
  });

  test.each([
    ['list has no option "meta"; there are order, ', { meta: {} }],
    ['list: created has no option "form"; there are from, until', { created: { form: 1 } }],
    ["list is given null; it takes an object of order, ", null],
  ])("of a listing is refused: %s", async (words, options) => {
    expect(() => checkedListing(untyped(options))).toThrow(RangeError);
    expect(() => checkedListing(untyped(options))).toThrow(words);
    expect(await errorOf(stage().host.threads(untyped(options)))).toMatchObject({ name: "RangeError" });
  });

  test("of a search is refused", () => {
    const search = () => checkedSearch("words", untyped({ threadID: "t" }));
    expect(search).toThrow(RangeError);
    expect(search).toThrow('search has no option "threadID"; there are threadId, limit, after');
  });

  test("of an ask is refused by its handle, and nothing is journalled", async () => {
    const { host, store } = stage();
    const reasonOf = async (ask: PromiseLike<unknown>): Promise<unknown> => {
      const error = await errorOf(ask);
      expect(error).toBeInstanceOf(AskRefusedError);
      return error;
    };
    expect(await reasonOf(host.ask("x", untyped({ threadID: "t", askId: "a" })))).toMatchObject({
      askId: "a",
      refusal: { kind: "invalid", reason: expect.stringMatching(/^ask has no option "threadID"; .*, threadId$/) },
    });
    expect(await reasonOf(host.ask("x", untyped("t")))).toMatchObject({
      refusal: { reason: expect.stringMatching(/^ask is given a value of type string; it takes/) },
    });
    // A thread has only one id.
    expect(await reasonOf(host.thread("t").ask("x", untyped({ threadId: "u" })))).toMatchObject({ threadId: "t" });
    expect(await reasonOf(host.thread().steer("x", untyped({ overlap: { type: "queue" } })))).toMatchObject({
      refusal: { reason: expect.stringMatching(/^steer has no option "overlap"; there are askId, .*, during$/) },
    });
    expect(await reasonOf(host.ask("x", untyped({ signal: {} })))).toMatchObject({
      refusal: { kind: "invalid", reason: "ask: signal must be an AbortSignal (got an object)" },
    });
    expect((await store.list()).threads).toEqual([]);
  });

  test("of a thread's method is refused, and nothing is journalled", async () => {
    const { host, store } = stage({ script: [says("ok")] });
    const thread = host.thread();
    await thread.ask("x");
    const before = await journalOf(store);
    for (const attempt of [
      thread.fork(untyped({ treadId: "u" })),
      thread.redact({ turn: 1 }, untyped({ copy: ["u"] })),
      thread.approve("id", untyped({ diggest: "d" })),
      thread.deny("id", untyped({ because: "no" })),
      host.thread("t").start(untyped({ sytem: "be kind" })),
    ]) {
      const error = await errorOf(attempt);
      expect(error).toBeInstanceOf(EventRefusedError);
      expect(error).toMatchObject({ refusal: { kind: "invalid", reason: expect.stringContaining("has no option") } });
    }
    const imported = await errorOf(host.importMessages({ turns: [] }, untyped({ meta: {} })));
    expect(imported).toBeInstanceOf(ImportRefusedError);
    expect(imported).toMatchObject({ message: expect.stringContaining('importMessages has no option "meta"') });
    expect(await journalOf(store)).toEqual(before);
    expect((await store.list()).threads).toHaveLength(1);
  });

  test("is none where it is undefined; one that every object has is one; and no value is shown", () => {
    const problemOf = (options: unknown) =>
      problemOfOptions<{ url?: string }>("store", untyped(options), { url: kinds.anything });
    expect(problemOf({ other: undefined, url: "u" })).toBeNull();
    expect(problemOf({ toString: 1 })).toBe('store has no option "toString"; there are url');
    expect(problemOf("redis://me:secret@host")).toBe(
      "store is given a value of type string; it takes an object of url",
    );
    expect(problemOf(["secret"])).toBe("store is given a list; it takes an object of url");
  });
});

test.each<[words: string, thread: object]>([
  ["system must be a text, or a message such as { role, content } (got 5)", { system: 5 }],
  ["leave it out for the default", { system: null }],
  ["system.role must be one of", { system: { role: "king", content: "be kind" } }],
  ["model must be an object (got a text)", { model: "gpt" }],
  ["metadata must be an object (got a list)", { metadata: [] }],
  ["metadata.when is a function", { metadata: { when: () => 0 } }],
  ["seed must be a list (got an object)", { seed: {} }],
  ["seed.0.role must be one of", { seed: [{ role: "king", content: "x" }] }],
  ["the seed is no conversation: ", { seed: [{ role: "tool", toolCallId: "1", content: "x" }] }],
])("a host refuses initial values with which no thread could start, as a thread does: %s", async (words, thread) => {
  const make = () => createHost({ ...hostOptions, thread });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow("createHost: thread: ");
  expect(make).toThrow(words);
  const { host, store } = stage();
  expect(await errorOf(host.thread().start(thread))).toBeInstanceOf(Error);
  expect((await store.list()).threads).toEqual([]);
});

const argumentsOfOtherTypes: readonly (readonly unknown[])[] = [[7], [null], [], [{ threadId: 7 }], [[], null]];
const optionsOfOtherTypes: readonly (readonly unknown[])[] = [7, null, { threadId: 7 }, { bogus: 1 }].map((options) => [
  "x",
  options,
]);

test("each method of a host and a thread that returns a promise rejects arguments of other types, and names none of its own code", async () => {
  const { host } = stage();
  const methodsOf = (object: object): readonly string[] =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => !foreign.has(name));
  const failures: unknown[] = [];
  const call = async (object: object, method: string, given: readonly unknown[]): Promise<void> => {
    try {
      const returned: unknown = Reflect.apply(Reflect.get(object, method) as () => unknown, object, given);
      await Promise.resolve(returned).catch((error: unknown) => {
        if (error instanceof TypeError) failures.push([method, given, error]);
      });
    } catch (thrown) {
      failures.push([`${method} throws`, given, thrown]);
    }
  };
  for (const given of [...argumentsOfOtherTypes, ...optionsOfOtherTypes]) {
    for (const method of ["ask", "threads", "search", "importJournal", "importMessages"])
      await call(host, method, given);
    const thread = host.thread("new");
    await thread.addTurn([{ role: "user", content: "x" }]);
    for (const method of methodsOf(thread)) await call(thread, method, given);
  }
  expect(failures).toEqual([]);
});

/** `look` calls a function of its caller; the constructor is not a method. */
const foreign: ReadonlySet<string> = new Set(["constructor", "look"]);
