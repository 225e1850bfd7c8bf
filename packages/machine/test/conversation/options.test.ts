import { describe, expect, test } from "vitest";
import {
  ConfigurationError,
  configurationOfMachine,
  conversationMachine,
  estimateCounter,
  fingerprintOf,
  keepAll,
  lastTurns,
  type MachineOptions,
  start,
} from "../../src/index.ts";

describe("options that can't be meant are refused where the machine is built, and the message names the value", () => {
  test.each<readonly [string, MachineOptions, RegExp]>([
    ["a limit below zero", { limits: { steps: -1 } }, /limit "steps" is -1/],
    ["a limit that is not whole", { limits: { tokens: 0.5 } }, /limit "tokens" is 0\.5/],
    ["a limit that is no number", { limits: { costNano: Number.NaN } }, /limit "costNano" is NaN/],
    [
      "an endless limit",
      { limits: { deadlineMs: Number.POSITIVE_INFINITY } },
      /limit "deadlineMs" is Infinity.*leave it out/,
    ],
    ["a queue below zero", { overlap: { type: "queue", max: -1 } }, /overlap\.max is -1/],
    ["no attempt at all", { retry: { attempts: 0 } }, /retry\.attempts is 0/],
    ["a delay below zero", { retry: { baseDelayMs: -1 } }, /retry\.baseDelayMs is -1/],
    ["a delay that is not whole", { retry: { maxDelayMs: 1.5 } }, /retry\.maxDelayMs is 1\.5/],
    ["a wait that is no number", { retry: { maxRetryAfterMs: Number.NaN } }, /retry\.maxRetryAfterMs is NaN/],
    ["a reserve beyond the budget", { budget: { tokens: 10, reserve: 11 } }, /"reserve":11/],
    ["a silence of zero", { idleTimeoutMs: 0 }, /idleTimeoutMs is 0/],
    ["two tools of one name", { tools: [{ name: "a" }, { name: "b" }, { name: "a" }] }, /tool "a" is declared twice/],
    ["a policy without a name", { policy: { ...keepAll(), name: "" } }, /policy has no name/],
    ["a policy without a version", { policy: { ...keepAll(), version: Number.NaN } }, /policy has no name and version/],
    ["a counter without a name", { counter: { ...estimateCounter, name: "" } }, /counter has no name/],
    [
      "a price list without a name",
      { pricing: { name: "", version: 1, options: {}, price: () => null } },
      /pricing has no name/,
    ],
  ])("%s", (_, options, words) => {
    expect(() => conversationMachine(options)).toThrow(ConfigurationError);
    expect(() => conversationMachine(options)).toThrow(words);
  });

  test("zero means zero where it can be meant", () => {
    const zero = {
      limits: { steps: 0, toolCalls: 0, tokens: 0, costNano: 0, deadlineMs: 0 },
      overlap: { type: "queue", max: 0 },
    } as const;
    expect(() =>
      conversationMachine({ ...zero, budget: { tokens: 0, reserve: 0 }, retry: { baseDelayMs: 0 } }),
    ).not.toThrow();
  });
});

describe("a fingerprint", () => {
  const options: MachineOptions = {
    tools: [{ name: "search", version: "1" }],
    policy: lastTurns(2),
    limits: { steps: 3 },
  };
  const fingerprint = (changes: MachineOptions = {}) => fingerprintOf(conversationMachine({ ...options, ...changes }));

  test("is that of names, versions and options, whoever builds the machine and in whatever order", () => {
    expect(fingerprint()).toBe(fingerprint({ policy: lastTurns(2), limits: { steps: 3 } }));
    expect(
      fingerprintOf(
        conversationMachine({ limits: { steps: 3 }, policy: lastTurns(2), tools: [{ version: "1", name: "search" }] }),
      ),
    ).toBe(fingerprint());
  });

  test.each<readonly [string, MachineOptions]>([
    ["another option of the policy", { policy: lastTurns(3) }],
    ["another version of the policy", { policy: { ...lastTurns(2), version: 2 } }],
    ["another version of a tool", { tools: [{ name: "search", version: "2" }] }],
    ["another description of a tool", { tools: [{ name: "search", version: "1", description: "finds" }] }],
    ["another limit", { limits: { steps: 4 } }],
    ["another overlap", { overlap: { type: "queue", max: 1 } }],
    ["another retry", { retry: { attempts: 1 } }],
    ["another choice for interrupted turns", { interrupted: "omit" }],
    ["another choice for unknown tools", { unknownTool: "ask" }],
    ["another silence", { idleTimeoutMs: 1 }],
    ["another budget", { budget: { tokens: 1, reserve: 0 } }],
    ["another model", { model: { temperature: 0 } }],
    ["a price list", { pricing: { name: "p", version: 1, options: {}, price: () => null } }],
  ])("differs with %s", (_, changes) => {
    expect(fingerprint(changes)).not.toBe(fingerprint());
  });

  test("stands on the first entry, with the silence that calls bear", () => {
    const machine = conversationMachine({ idleTimeoutMs: 9 });
    const { entry, state } = start(machine, { threadId: "t", at: 0 });
    expect(entry.event.configuration).toEqual({ fingerprint: fingerprintOf(machine), idleTimeoutMs: 9 });
    expect(state.context.configuration).toEqual(configurationOfMachine(machine));
  });
});
