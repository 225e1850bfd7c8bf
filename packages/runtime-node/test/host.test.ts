import { createHost as createPureHost, declarationsOf } from "@colloquy/host";
import { ConfigurationError, conversationMachine, type ReplyDraft, textOf } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import {
  checkApprovals,
  checkRedaction,
  checkSameJournal,
  checkSharedThread,
  type MakeScriptedHost,
} from "@colloquy/runtime-test/laws";
import { runningClock } from "@colloquy/runtime-test";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  createHost,
  type HostOptions,
  type LlmHandler,
  memoryStore,
  openaiChat,
  reasonOf,
  sqliteStore,
  systemClock,
  tool,
} from "../src/index.ts";

const says =
  (content: string): LlmHandler =>
  async () => ({ type: "completed", reply: { content }, finishReason: "stop" });

const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}`,
});

const asksOnce: LlmHandler = async (call, { tools }) => {
  const answered = call.messages.some(({ role }) => role === "tool");
  const reply: ReplyDraft = answered
    ? { content: call.messages.map(textOf).join("|") }
    : { toolCalls: [{ id: null, name: tools[0]?.name ?? "none", arguments: '{"city":"Oslo"}' }] };
  return { type: "completed", reply, finishReason: answered ? "stop" : "tool_calls" };
};

/** Casts options: a caller without types may pass any. */
const untyped = (options: object): HostOptions => options as HostOptions;

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe("a host with a model handler alone", () => {
  test("remembers, and says once that nothing is kept", async () => {
    await using host = createHost({
      llm: async (call) => ({
        type: "completed",
        reply: { content: String(call.messages.length) },
        finishReason: "stop",
      }),
    });
    expect((await host.ask("one")).text).toBe("1");
    expect((await host.ask("two")).text).toBe("3");
    expect(console.warn).toHaveBeenCalledTimes(1);
    expect(console.warn).toHaveBeenCalledWith(expect.stringContaining("sqliteStore"));
  });

  test("says nothing where a store is given", async () => {
    await using store = sqliteStore({ path: ":memory:" });
    await using host = createHost({ llm: says("ok"), store });
    await host.ask("x");
    expect(console.warn).not.toHaveBeenCalled();
  });
});

describe("what is named once", () => {
  test("tools are declared to the machine and offered to the model", async () => {
    await using host = createHost({
      llm: asksOnce,
      store: memoryStore(),
      tools: [weather],
      system: "Be brief.",
    });
    expect((await host.ask("Is it raining in Oslo?")).text).toContain("Be brief.|Is it raining in Oslo?");
    const { messages } = await host.ask("And now?");
    expect(messages.length).toBeGreaterThan(0);
  });

  test("a machine may be options, or one that was made", async () => {
    const store = memoryStore();
    const counts: LlmHandler = async (call) => ({
      type: "completed",
      reply: { content: String(call.messages.length) },
      finishReason: "stop",
    });
    await using narrow = createHost({ llm: counts, store, machine: { policy: lastTurns(1) } });
    await narrow.ask("one", { threadId: "a" });
    await narrow.ask("two", { threadId: "a" });
    expect((await narrow.ask("three", { threadId: "a" })).text).toBe("3");
    await using made = createHost({ llm: counts, store, machine: conversationMachine({ policy: lastTurns(1) }) });
    await made.ask("one", { threadId: "b" });
    await made.ask("two", { threadId: "b" });
    expect((await made.ask("three", { threadId: "b" })).text).toBe("3");
  });

  test("the system prompt is that of the thread", async () => {
    const store = memoryStore();
    await using host = createHost({
      llm: says("ok"),
      store,
      system: "Be kind.",
      thread: { metadata: { user: "ada" } },
    });
    await host.ask("x");
    const state = await host.thread().state();
    expect(state?.context.metadata).toEqual({ user: "ada" });
    expect(state?.context.conversation.system?.parts).toMatchObject([{ type: "text", text: "Be kind." }]);
  });
});

describe("options that can't be used are named", () => {
  const store = memoryStore();
  const llm = says("ok");
  test.each<[words: RegExp, options: object]>([
    [/^createHost needs the option "llm", and it is missing$/, { store }],
    [/^createHost has no option "sytem"; there are .*system/, { llm, store, sytem: "x" }],
    [/^createHost: machine has tools; name tools once/, { llm, store, machine: { tools: declarationsOf([weather]) } }],
    [/^createHost has both system and thread\.system/, { llm, store, system: "a", thread: { system: "b" } }],
    [/^createHost: system must be a text, or a message .* \(got 5\)$/, { llm, store, system: 5 }],
    [
      /declares the tool "weather", and the host has no function/,
      { llm, store, machine: conversationMachine({ tools: declarationsOf([weather]) }) },
    ],
    [
      /has the tool "weather", and the machine does not declare it/,
      { llm, store, machine: conversationMachine(), tools: [weather] },
    ],
    [
      /"weather"/,
      {
        llm,
        store,
        machine: conversationMachine({ tools: [{ ...weather.declaration, description: "Another." }] }),
        tools: [weather],
      },
    ],
    [
      /^createHost: machine is neither a conversation machine, .* nor the options of one$/,
      { llm, store, machine: null },
    ],
    [
      /^createHost: machine is neither a conversation machine, .* nor the options of one$/,
      { llm, store, machine: "x" },
    ],
    [
      /^createHost: llm must be a function such as openaiChat\(\{ model \}\) \(got a text\)$/,
      { llm: "gpt-4o-mini", store },
    ],
    [/^createHost: store must be a store, such as memoryStore\(\) \(got an object\)$/, { llm, store: {} }],
  ])("%s", (words, options) => {
    expect(() => createHost(untyped(options))).toThrow(ConfigurationError);
    expect(() => createHost(untyped(options))).toThrow(words);
  });

  test("of the pure host, too", () => {
    const given = { machine: conversationMachine(), llm, store, clock: systemClock, ids: { draw: () => "id" } };
    expect(createPureHost(given)).toBeDefined();
    for (const name of Object.keys(given)) {
      const without = untyped({ ...given, [name]: undefined });
      // @ts-expect-error -- a caller without types may do so
      expect(() => createPureHost(without)).toThrow(`createHost needs the option "${name}", and it is missing`);
    }
    // @ts-expect-error -- a caller without types may do so
    expect(() => createPureHost({ ...given, machine: {} })).toThrow(
      "createHost: machine must be a conversation machine",
    );
  });

  test("of openaiChat", () => {
    // @ts-expect-error -- a caller without types may do so
    expect(() => openaiChat({ modle: "gpt-4o-mini", apiKey: "k" })).toThrow(
      'openaiChat has no option "modle"; there are model',
    );
  });
});

describe("what a model handler throws", () => {
  const failing: LlmHandler = async () => {
    throw new TypeError("no model at https://ada:pw@host with sk-abcdefghijkl and correct-horse");
  };

  test("is on the console and in the error of the ask, without secrets", async () => {
    vi.stubEnv("MY_API_KEY", "correct-horse");
    const store = memoryStore();
    await using host = createHost({ llm: failing, store });
    const error: unknown = await host.ask("x").then(String, (thrown: unknown) => thrown);
    expect(String(error)).toMatch(/the llm handler threw: no model at https:\/\/\[redacted[^ ]*@host with /);
    const printed = vi.mocked(console.error).mock.calls.flat().join("\n");
    expect(printed).toMatch(/^Colloquy: llm failed: no model at/);
    const journal = JSON.stringify(await store.read("default"));
    for (const text of [String(error), printed, journal]) expect(text).not.toMatch(/ada:pw|sk-abc|correct-horse/);
  });

  const fails = async (thrown: unknown, options: object = {}): Promise<readonly [error: string, printed: string]> => {
    const llm: LlmHandler = async () => {
      throw thrown;
    };
    await using host = createHost({ llm, store: memoryStore(), ...options });
    const error = await host.ask("x").then(String, String);
    await new Promise((resolve) => setImmediate(resolve));
    return [error, vi.mocked(console.error).mock.calls.flat().join("\n")];
  };

  test.each<[where: string, said: (secret: string) => unknown]>([
    ["in a line of the message that looks like a place", (secret) => new Error(`failed\n    at ${secret}`)],
    ["in a URL", (secret) => new Error(`GET https://host/?x=${encodeURIComponent(secret)}`)],
    ["in JSON", (secret) => ({ text: `<${secret}>` })],
    ["in part", (secret) => new Error(`invalid: ${secret.split("\n")[1] ?? secret}`)],
  ])("is without a secret that stands %s", async (_, said) => {
    for (const secret of ["correct-horse/+staple", "-----BEGIN\ncorrect-horse\n-----END"]) {
      vi.stubEnv("DB_PASS", secret);
      expect((await fails(said(secret))).join("\n")).not.toContain("correct-horse");
    }
  });

  test.each<[what: string, thrown: unknown, printed: string]>([
    [
      "a stack that throws",
      Object.defineProperty(new Error("e"), "stack", { get: () => JSON.parse("{") }),
      "failed: e",
    ],
    ["a stack that is no text", Object.assign(new Error("e"), { stack: 7 }), "failed: e"],
    ["nothing", undefined, "failed: undefined"],
  ])("is on the console where it has %s", async (_, thrown, printed) => {
    expect((await fails(thrown))[1]).toBe(`Colloquy: llm ${printed}`);
  });

  test("is told to others without secrets, too", () => {
    vi.stubEnv("MY_API_KEY", "correct-horse");
    expect(reasonOf(new Error("no correct-horse with sk-abcdefghijkl"))).toBe("no [redacted] with [redacted]");
    expect(reasonOf("odd")).toBe("odd");
  });

  test("takes no long time where the environment has a long secret", async () => {
    vi.stubEnv("LONG_KEY", "a".repeat(100_000));
    expect((await fails(new Error("a".repeat(4_096))))[0]).toContain("[redacted]");
  });

  test("is received by onObserverError in place of the console, where one is given", async () => {
    const received: unknown[] = [];
    await using host = createHost({
      llm: failing,
      store: memoryStore(),
      onObserverError: (thrown) => received.push(thrown),
    });
    await host.ask("x").catch(() => {});
    expect(received).toEqual([expect.any(TypeError)]);
    expect(console.error).not.toHaveBeenCalled();
  });
});

describe("each call that is valid for the pure createHost means the same", () => {
  test("options of a class, and those that are undefined or null", async () => {
    class Options {
      readonly #store = memoryStore();
      get llm(): LlmHandler {
        return says("ok");
      }
      get store() {
        return this.#store;
      }
      get ids() {
        return undefined;
      }
      get tools() {
        return null;
      }
      get thread() {
        return null;
      }
      readonly system = "Be kind.";
    }
    await using host = createHost(untyped(new Options()));
    expect((await host.ask("x")).text).toBe("ok");
    expect(console.warn).not.toHaveBeenCalled();
  });

  test("two hosts on one thread", () => checkSharedThread({ createHost }, { runs: 8 }));
  test("approvals", () => checkApprovals({ createHost }, { runs: 8 }));
  test("redaction", () => checkRedaction({ createHost }, { runs: 8 }));
  test("the same journal", () => {
    const clock = runningClock();
    const pure: MakeScriptedHost = (parts) => createPureHost({ ...parts, clock, store: memoryStore({ clock }) });
    const real: MakeScriptedHost = (parts) => createHost({ ...parts, clock, store: memoryStore({ clock }) });
    return checkSameJournal({ pure, real }, { runs: 8 });
  });
});
