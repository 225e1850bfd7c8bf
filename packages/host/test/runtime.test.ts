import { createHost, memoryStore, tool } from "@colloquy/host";
import { failureReport, runtimeHost } from "@colloquy/host/runtime";
import { ConfigurationError, conversationMachine, textOf } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { manualClock, says } from "./stage.ts";

const llm = async () => says("hi");
const echo = tool({ name: "echo", description: "", input: { jsonSchema: {} }, run: () => "" });

/** Makes a host for a platform that records notices and failure reports. */
const platform = (options: object = {}) => {
  const told: string[] = [];
  const failures = failureReport(
    () => ["of the platform"],
    (text) => void told.push(text.split("\n")[0] ?? ""),
  );
  const parts = { clock: manualClock(), ids: { draw: (kind: string) => kind }, failures };
  const onMemoryStore = () => void told.push("in memory");
  const host = () => runtimeHost({ ...parts, onMemoryStore }, { llm, ...options });
  return { host, told, clock: parts.clock };
};

describe("runtimeHost", () => {
  test.each<readonly [object, string]>([
    [
      { machine: null },
      "createHost: machine is neither a conversation machine, which conversationMachine() makes, nor",
    ],
    [{ machine: 7 }, "createHost: machine is neither a conversation machine"],
    [{ machine: { tools: [] } }, "createHost: machine has tools; name tools once, in the option tools of createHost"],
    [
      { machine: conversationMachine(), tools: [echo] },
      'the host has the tool "echo", and the machine does not declare',
    ],
    [{ system: "a", thread: { system: "b" } }, "createHost has both system and thread.system; give one of them"],
    [{ system: 7 }, "createHost: system must be"],
    [{ store: {} }, "createHost: store must be a store"],
    [{ stor: null }, 'createHost has no option "stor"'],
    [{ llm: "m" }, "createHost: llm must be a function"],
    [{ tools: 7 }, "tools must be a list"],
  ])("runtimeHost rejects the options %j before it warns of a store in memory", (options, says) => {
    const { host, told } = platform(options);
    expect(host).toThrow(ConfigurationError);
    expect(host).toThrow(says);
    expect(told).toEqual([]);
  });

  test("a host without a store keeps threads in memory, and reports this once", async () => {
    const { host, told, clock } = platform();
    const made = host();
    expect((await made.ask("hello")).text).toBe("hi");
    expect(told).toEqual(["in memory"]);
    await made.close();
    const kept = platform({ store: memoryStore({ clock }), system: undefined, recovery: undefined });
    await kept.host().close();
    expect(kept.told).toEqual([]);
  });

  test("a host declares its tools to its machine, and accepts a machine that already declares them", async () => {
    const optional = { limits: { steps: 3 }, tools: undefined };
    for (const machine of [undefined, optional, conversationMachine({ tools: [echo.declaration] })]) {
      const made = platform({ machine, tools: [echo] }).host();
      const { turn } = await made.ask("hello");
      expect(turn).toBe(1);
      await made.close();
    }
  });

  test("a host shows its machine and the values with which its threads start, also in memory", () => {
    const machine = conversationMachine();
    const thread = { system: "Briefly:", metadata: { a: 1 } };
    const made = platform({ machine, thread }).host();
    for (const host of [made, made.inMemory()])
      expect([host.machine === machine, host.threadDefaults]).toEqual([true, thread]);
  });

  test.each<readonly [object, string | null, object]>([
    [{ system: "Briefly:" }, "Briefly:", {}],
    [{ system: "Briefly:", thread: { metadata: { a: 1 } } }, "Briefly:", { a: 1 }],
    [{ thread: { system: "At length:", metadata: { a: 1 } } }, "At length:", { a: 1 }],
    [{ thread: { metadata: { a: 1 } } }, null, { a: 1 }],
    [{}, null, {}],
  ])("a host starts threads with the system prompt and metadata of %j", async (options, system, metadata) => {
    const made = platform(options).host();
    await made.ask("hello");
    const { conversation, metadata: kept } = (await made.thread().state())?.context ?? {};
    const said = conversation?.system ?? null;
    expect([said === null ? null : textOf(said), kept]).toEqual([system, metadata]);
    await made.close();
  });

  test("a host reports hook errors without secrets, or passes them to onObserverError if that is given", async () => {
    const hooks = {
      afterTurn: () => {
        throw new Error("of the platform, of the model, of the application");
      },
    };
    const secretive = Object.assign(async () => says("hi"), { secrets: () => ["of the model"] });
    const { host, told } = platform({ hooks, llm: secretive });
    const made = host();
    await made.ask("hello");
    await made.close();
    expect(told.at(-1)).toMatch(/^Colloquy: afterTurn failed: .*of the application$/);
    expect(told.at(-1)).not.toMatch(/of the platform|of the model/);
    const reported: string[] = [];
    const other = platform({ hooks, onObserverError: (_: unknown, where: string) => reported.push(where) });
    const own = other.host();
    await own.ask("hello");
    await own.close();
    expect([reported, other.told]).toEqual([["afterTurn"], ["in memory"]]);
  });

  test("a host reads its options from members and getters of a class", async () => {
    class Options {
      readonly llm = llm;
      get system(): string {
        return "Briefly:";
      }
    }
    const { clock } = platform();
    const failures = failureReport(
      () => [],
      () => {},
    );
    const parts = { clock, ids: { draw: (kind: string) => kind }, failures, onMemoryStore: () => {} };
    const made = runtimeHost(parts, new Options());
    await made.ask("hello");
    const { system } = (await made.thread().state())?.context.conversation ?? { system: null };
    expect(system === null ? null : textOf(system)).toBe("Briefly:");
    await made.close();
    expect(() => createHost(Object({}))).toThrow(ConfigurationError);
  });
});

test("a failure report gives the reason and the stack without secrets, for any thrown value", () => {
  const told: string[] = [];
  const { report, reasonOf } = failureReport(
    () => ["hush-hush"],
    (text) => void told.push(text),
  );
  const failed = new Error("no hush-hush or of-the-model");
  failed.stack = "Error: no\n    at hush-hush (a.ts:1)\nnoise\n    at of-the-model (b.ts:2)";
  report(failed, "afterTurn", ["of-the-model"]);
  report("nothing", "store");
  report(Object.defineProperty(new Error("odd"), "stack", { value: 7 }), "store");
  report(Object.defineProperty(new Error("worse"), "stack", { get: () => never() }), "store");
  const [first = "", ...others] = told;
  expect(first).toMatch(/^Colloquy: afterTurn failed: no .*\n {4}at .* \(a\.ts:1\)\n {4}at .* \(b\.ts:2\)$/);
  expect(first).not.toMatch(/hush-hush|of-the-model/);
  expect(others).toEqual(["nothing", "odd", "worse"].map((reason) => `Colloquy: store failed: ${reason}`));
  expect(reasonOf(failed)).toMatch(/^no (?!hush).* or of-the-model$/);
});

const never = (): never => {
  throw new Error("there is none");
};
