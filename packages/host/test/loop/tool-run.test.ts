import { describe, expect, test } from "vitest";
import type { SchemaResult, ToolDefinition, ToolInput } from "@colloquy/host";
import { tool } from "@colloquy/host";
import {
  calls,
  entriesOf,
  journalOf,
  manualClock,
  says,
  settle,
  stage,
  type Stage,
  type StageOptions,
} from "../stage.ts";

const anything = { jsonSchema: { type: "object" } };

/** Returns a call's result for the model, and its outcome in the journal. */
const outcomeOf = async (
  given: unknown,
  definition: Partial<ToolDefinition<ToolInput>>,
): Promise<readonly [outcome: string, content: unknown]> => {
  const subject = tool({ name: "subject", description: "x", input: anything, run: () => "ran", ...definition });
  const { host, store } = stage({ tools: [subject], script: [calls(["subject", given]), says("ok")] });
  expect((await host.ask("go")).text).toBe("ok");
  const { event } = (await entriesOf(store))[3] ?? {};
  if (event?.type === "tool.completed") return ["completed", event.content];
  if (event?.type === "tool.failed") return [event.outcome, event.content];
  throw new Error(`entry 3 is ${event?.type}`);
};

describe("arguments", () => {
  const person = {
    jsonSchema: {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" }, mood: { enum: ["good", "bad"] } },
      required: ["name"],
      additionalProperties: false,
    },
  };

  test.each([
    ['{"name":', /not valid JSON/],
    ['"x"', /expected object, received string/],
    ["{}", /"name": required, but missing/],
    [{ name: 3 }, /"name": expected string, received number/],
    [{ name: "a", age: 1.5 }, /"age": expected integer/],
    [{ name: "a", mood: "so so" }, /"mood": expected one of "good", "bad"/],
    [{ name: "a", nmae: "b" }, /"nmae": not expected here/],
  ])("%j are refused in words that the model can act on, and nothing runs", async (written, words) => {
    let runs = 0;
    const outcome = await outcomeOf(written, { input: person, run: () => runs++ });
    expect(outcome).toEqual(["refused", expect.stringMatching(words)]);
    expect(runs).toBe(0);
  });

  test("a validator that returns a promise has the tool run with what it resolves to", async () => {
    const promising = (validate: (value: unknown) => SchemaResult<unknown>): ToolInput => ({
      "~standard": {
        version: 1,
        vendor: "test",
        jsonSchema: { input: () => ({}) },
        validate: async (value) => validate(value),
      },
    });
    const run = (input: unknown) => JSON.stringify(input);
    const valid = promising((value) => ({ value: { ...Object(value), checked: true } }));
    expect(await outcomeOf({ name: "a" }, { input: valid, run })).toEqual([
      "completed",
      JSON.stringify({ name: "a", checked: true }),
    ]);
    const invalid = promising(() => ({ issues: [{ message: "not today" }] }));
    expect(await outcomeOf({}, { input: invalid, run })).toEqual(["refused", expect.stringContaining("not today")]);
  });

  test("a validator that throws fails the call", async () => {
    const input: ToolInput = {
      "~standard": {
        version: 1,
        vendor: "test",
        jsonSchema: { input: () => ({}) },
        validate: () => {
          throw new Error("broken");
        },
      },
    };
    expect(await outcomeOf({}, { input })).toEqual(["failed", expect.stringContaining("broken")]);
  });
});

describe("results", () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  const branching: { left?: unknown; right?: unknown } = {};
  Object.assign(branching, { left: branching, right: branching });
  const shared = { a: 1 };
  class Person {
    readonly name = "Ada";
  }
  const unfit = (what: string): unknown => expect.stringContaining(what);

  test.each<[string, unknown, string, unknown]>([
    ["a string", "text", "completed", "text"],
    ["undefined", undefined, "completed", null],
    ["null", null, "completed", null],
    ["false", false, "completed", "false"],
    ["an object", { a: [1] }, "completed", '{"a":[1]}'],
    ["an empty list", [], "completed", "[]"],
    ["content parts", [{ type: "text", text: "a" }], "completed", [{ type: "text", text: "a" }]],
    ["a list that only looks like parts", [{ type: "text" }], "completed", '[{"type":"text"}]'],
    ["a circular value", circular, "failed", expect.stringContaining("can't be written as JSON")],
    ["a date", { at: new Date(0) }, "completed", '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["an address", [new URL("http://a/b")], "completed", '["http://a/b"]'],
    [
      "what says itself as JSON",
      { toJSON: () => ({ a: new Date(0) }) },
      "completed",
      '{"a":"1970-01-01T00:00:00.000Z"}',
    ],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), "completed", '{"a":1}'],
    ["a member that is undefined", { a: undefined, b: 1 }, "completed", '{"b":1}'],
    ["half a surrogate pair", { "\ud83d": ["a\ude00"] }, "completed", '{"\ufffd":["a\ufffd"]}'],
    ["one value in two places", [shared, shared], "completed", '[{"a":1},{"a":1}]'],
    ["a BigInt", { n: 1n }, "failed", unfit("n is a bigint, which JSON has no word for")],
    ["a function", () => 1, "failed", unfit("it is a function, which JSON has no word for")],
    ["a function in an object", { call: () => 1 }, "failed", unfit("call is a function")],
    ["a symbol", [Symbol("s")], "failed", unfit("0 is a symbol")],
    ["NaN", { prices: [1, Number.NaN] }, "failed", unfit("prices.1 is NaN")],
    ["Infinity", Number.POSITIVE_INFINITY, "failed", unfit("it is Infinity")],
    ["undefined in a list", [undefined], "failed", unfit("0 is undefined")],
    ["a hole in a list", Array(1), "failed", unfit("0 is undefined")],
    ["a Map", { deep: [new Map([["a", 1]])] }, "failed", unfit("deep.0 is a Map")],
    ["a Set", new Set([1]), "failed", unfit("it is a Set")],
    ["an error", { error: new Error("x") }, "failed", unfit("error is an Error")],
    ["a Response", new Response("{}"), "failed", unfit("it is a Response")],
    ["a promise in an object", { later: Promise.resolve(1) }, "failed", unfit("later is a Promise")],
    ["a regular expression", [/a/], "failed", unfit("0 is a RegExp")],
    ["an instance of a class", { ada: new Person() }, "failed", unfit("ada is a Person")],
    ["an invalid date", { at: new Date(Number.NaN) }, "failed", unfit("at is NaN")],
    ["a parted circle", branching, "failed", unfit("nested too deep, or holds itself")],
  ])("%s", async (_, value, outcome, content) => {
    expect(await outcomeOf({}, { run: () => value })).toEqual([outcome, content]);
    expect(await outcomeOf({}, { run: async () => Promise.resolve(value) })).toEqual([outcome, content]);
  });

  test.each<[string, unknown, string]>([
    ["an error", new Error("no such city"), "no such city"],
    ["a string", "just words", "just words"],
    ["an object", { code: 7 }, 'The tool failed: {"code":7}'],
    ["nothing", undefined, "The tool failed: undefined"],
    ["a circular value", circular, "The tool failed: [object Object]"],
  ])("%s thrown", async (_, thrown, content) => {
    const run = (): never => {
      throw thrown;
    };
    expect(await outcomeOf({}, { run })).toEqual(["failed", content]);
    expect(await outcomeOf({}, { run: async () => run() })).toEqual(["failed", content]);
  });

  test("a tool may return a value nested 256 levels deep, and no deeper", async () => {
    const nested = (levels: number): object => (levels === 1 ? [] : [nested(levels - 1)]);
    const written = `${"[".repeat(256)}${"]".repeat(256)}`;
    expect(await outcomeOf({}, { run: () => nested(256) })).toEqual(["completed", written]);
    expect(await outcomeOf({}, { run: () => nested(257) })).toEqual(["failed", unfit("nested too deep")]);
  });

  test("can't be changed after they were returned", async () => {
    const part = { type: "text", text: "a" };
    const parts = tool({ name: "parts", description: "", input: anything, run: () => [part] });
    const { host, model } = stage({ tools: [parts], script: [calls(["parts", {}]), says("1"), says("2")] });
    await host.ask("one");
    part.text = "b";
    await host.ask("two");
    expect(JSON.stringify(model.calls[2]?.messages)).toContain('[{"type":"text","text":"a"}]');
  });
});

describe("a tool that is running", () => {
  const never =
    (signals: AbortSignal[]): ToolDefinition<ToolInput>["run"] =>
    (_, { signal }) => {
      signals.push(signal);
      return new Promise(() => {});
    };

  const running = (definition: Partial<ToolDefinition<ToolInput>>, options: StageOptions = {}): Stage =>
    stage({
      tools: [tool({ name: "subject", description: "x", input: anything, run: () => "ran", ...definition })],
      script: [calls(["subject", {}], ["subject", {}], ["subject", {}]), says("ok")],
      ...options,
    });

  test("that never returns is stopped at its timeout, and may still return afterwards", async () => {
    const signals: AbortSignal[] = [];
    const { host, clock, store } = running({ timeoutMs: 500, run: never(signals) });
    const handle = host.ask("go");
    await clock.advance(499);
    expect(await journalOf(store)).toHaveLength(3);
    await clock.advance(1);
    expect((await handle).text).toBe("ok");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect((await entriesOf(store))[3]).toMatchObject({
      event: { outcome: "failed", content: expect.stringContaining("500 ms") },
    });
  });

  test("a tool that answered before the thread was closed keeps its signal unaborted", async () => {
    const signals: AbortSignal[] = [];
    const { host } = running({
      run: (_, { signal }) => {
        signals.push(signal);
        return signals.length === 3 ? new Promise(() => {}) : "ran";
      },
    });
    host.ask("go").catch(() => {});
    await settle();
    await host.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, true]);
  });

  test("answers its call as failed if its result cannot be journalled, as when the clock fails", async () => {
    const clock = manualClock();
    let isBroken = false;
    const now = (): number => {
      const at = isBroken ? Number.NaN : clock.now();
      isBroken = false;
      return at;
    };
    const { host, store } = running({ run: () => void (isBroken = true) }, { clock: { ...clock, now } });
    const asked = host.ask("go").then(({ text }) => text);
    expect(await Promise.race([asked, settle()])).toBe("ok");
    const failed = (await entriesOf(store)).flatMap(({ event }) =>
      event.type === "tool.failed" ? [event.content] : [],
    );
    expect(failed).toEqual(['It could not be run: "tool.completed": at is NaN, which JSON has no word for']);
  });

  test("leaves no timer behind", async () => {
    const { host, clock } = running({ timeoutMs: 500 });
    await host.ask("go");
    await host.close();
    expect(clock.sleepers).toBe(0);
  });

  test("runs beside itself as often as it declared, and a stopped one makes room", async () => {
    const signals: AbortSignal[] = [];
    const { host, clock } = running({ concurrency: 2, timeoutMs: 500, run: never(signals) });
    const handle = host.ask("go");
    await settle();
    expect(signals).toHaveLength(2);
    await clock.advance(500);
    expect(signals).toHaveLength(3);
    await clock.advance(500);
    expect((await handle).text).toBe("ok");
  });

  test("waits for its place over all threads of the host, and is not run when it is cancelled meanwhile", async () => {
    const ends: (() => void)[] = [];
    const { host } = running(
      { concurrency: 1, run: () => new Promise<void>((resolve) => ends.push(resolve)) },
      { script: [calls(["subject", {}]), calls(["subject", {}]), calls(["subject", {}]), says("ok"), says("ok")] },
    );
    const [first, second, third] = ["a", "b", "c"].map((threadId) => host.ask("go", { threadId }));
    await settle();
    expect(ends).toHaveLength(1);
    third?.abort();
    await settle();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await first;
    await settle();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    expect((await second)?.text).toBe("ok");
    expect(ends).toHaveLength(2);
  });
});

test.each<readonly [string, { readonly users: number }]>([
  ["a plain object", { users: 1 }],
  ["an object without a prototype", Object.assign(Object.create(null) as object, { users: 1 })],
])(
  "a tool that writes into the tool context of the host changes it for no other call: %s",
  async (_name, toolContext) => {
    const seen: unknown[] = [];
    const count = tool({
      name: "count",
      description: "",
      input: anything,
      run: (_, { toolContext: own }) => {
        seen.push(own["users"]);
        Object.assign(own, { users: 2 });
        return "counted";
      },
    });
    const script = [calls(["count", {}], ["count", {}]), says("ok")];
    const { host } = stage({ tools: [count], toolContext, script });
    await host.ask("go");
    expect(seen).toEqual([1, 1]);
  },
);
