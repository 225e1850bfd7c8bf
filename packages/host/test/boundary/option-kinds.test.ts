import { ConfigurationError, conversationMachine } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import {
  AskRefusedError,
  createHost,
  EventRefusedError,
  type HostOptions,
  ImportRefusedError,
  memoryStore,
  resultReader,
  tool,
} from "@colloquy/host";
import { checkedListing, checkedSearch, problemOfOptions } from "@colloquy/host/store";
import { errorOf, journalOf, manualClock, says, stage } from "../stage.ts";

const clock = manualClock();

const hostOptions: HostOptions = {
  machine: conversationMachine({}),
  store: memoryStore({ clock }),
  llm: async () => says("ok"),
  clock,
  ids: { draw: (kind) => kind },
};

const definition = { name: "pay", description: "Pays.", input: { jsonSchema: {} }, run: () => null };

/** As from a caller without types. */
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
    // A thread is of one id.
    expect(await reasonOf(host.thread("t").ask("x", untyped({ threadId: "u" })))).toMatchObject({ threadId: "t" });
    expect(await reasonOf(host.thread().steer("x", untyped({ overlap: { type: "queue" } })))).toMatchObject({
      refusal: { reason: expect.stringMatching(/^steer has no option "overlap"; there are askId, .*, during$/) },
    });
    expect(await reasonOf(host.ask("x", untyped({ signal: {} })))).toMatchObject({
      refusal: { kind: "invalid", reason: "ask: signal must be an AbortSignal (got an object)" },
    });
    expect((await store.list()).threads).toEqual([]);
  });

  test("of what is done to a thread is refused, and nothing is journalled", async () => {
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
      problemOfOptions<{ url?: string }>("store", untyped(options), { url: true });
    expect(problemOf({ other: undefined, url: "u" })).toBeNull();
    expect(problemOf({ toString: 1 })).toBe('store has no option "toString"; there are url');
    expect(problemOf("redis://me:secret@host")).toBe(
      "store is given a value of type string; it takes an object of url",
    );
    expect(problemOf(["secret"])).toBe("store is given a list; it takes an object of url");
  });
});
