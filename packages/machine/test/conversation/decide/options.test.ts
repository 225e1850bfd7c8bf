import { ConfigurationError, conversationMachine, type MachineOptions } from "@colloquy/machine";
import { estimateCounter, keepAll } from "@colloquy/machine/policies";
import { describe, expect, it } from "vitest";

const summarised = (options: object): object => ({
  ...keepAll(),
  summariser: { instruction: "Sum it up.", model: {}, maxTokens: 100, next: () => null, ...options },
});

describe("invalid options are refused where the machine is made", () => {
  it.each<readonly [string, unknown, RegExp]>([
    ["another overlap", { overlap: { type: "merged" } }, /overlap\.type is "merged"; it must be one of: reject, queue/],
    [
      "another word for interrupted turns",
      { interrupted: "hide" },
      /interrupted is "hide"; it must be one of: keep, omit/,
    ],
    [
      "another word for unknown tools",
      { unknownTool: "skip" },
      /unknownTool is "skip"; it must be one of: result, ask/,
    ],
    ["a limit that is none", { limits: { turns: 5 } }, /there is no limit "turns"; there are: steps, toolCalls/],
    ["a limit below zero", { limits: { steps: -1 } }, /limit "steps" is -1/],
    ["a word for a flag", { calibrate: "no" }, /calibrate is "no"; it must be true or false/],
    [
      "a policy that can't decide",
      { policy: { ...keepAll(), decide: undefined } },
      /"keep-all" has no function "decide"/,
    ],
    ["a summariser without instruction", { policy: summarised({ instruction: "" }) }, /has no instruction/],
    ["a summariser without a model", { policy: summarised({ model: null }) }, /has the model null/],
    ["a summary of no tokens", { policy: summarised({ maxTokens: 0 }) }, /allows 0 tokens/],
    ["a wait without end", { policy: summarised({ waitMs: Number.POSITIVE_INFINITY }) }, /is waited for Infinity ms/],
    ["nothing to summarise by", { policy: summarised({ next: null }) }, /has no function "next"/],
    ["a counter that can't count", { counter: { ...estimateCounter, countPart: 5 } }, /no function "countPart"/],
    ["a counter that owes", { counter: { ...estimateCounter, perMessage: Number.NaN } }, /perMessage is NaN/],
    [
      "a counter that one has to wait for",
      { counter: { ...estimateCounter, countPart: () => Promise.reject(new Error("late")) } },
      /"estimate" counts asynchronously/,
    ],
    ["no time to wait", { idleTimeoutMs: 0 }, /idleTimeoutMs is 0; it must be a whole number of milliseconds above 0/],
    ["half a millisecond", { idleTimeoutMs: 0.5 }, /idleTimeoutMs is 0\.5/],
    ["a share above all", { warnAt: 1.5 }, /warnAt is 1.5/],
    ["another option", { polcy: keepAll() }, /^conversationMachine has no option "polcy"; there are tools, policy, /],
    ["another option of the budget", { budget: { tokens: 9, reserve: 1, max: 1 } }, /"max"; there are tokens, reserve/],
    ["another option of retries", { retry: { attemps: 1 } }, /retry has no option "attemps"; there are attempts, /],
    ["a number for a budget", { budget: 2_000 }, /budget is given 2000; it takes an object of tokens, reserve/],
    ["a list for options", [keepAll()], /conversationMachine is given \[\{.*it takes an object of tools/],
    ["a number for limits", { limits: 5 }, /limits is given 5; it takes an object/],
    ["a word for tools", { tools: "all" }, /tools are "all"; they must be a list/],
    ["a text for a number", { warnAt: "0.5" }, /warnAt is "0\.5"/],
    [
      "a word for a policy",
      { policy: "lastTurns" },
      /policy must be a policy such as lastTurns\(5\).*\(got "lastTurns"\)/,
    ],
    [
      "a counter without a version",
      { counter: { name: "mine" } },
      /counter must be .*estimateCounter, with a name and/,
    ],
    ["a number for prices", { pricing: 5 }, /pricing must be a pricing such as pricesPerMillion.*\(got 5\)/],
    ["a tool without a name", { tools: [{ name: "" }] }, /a tool is declared without a name/],
    [
      "a date for a parameter",
      { model: { stop: new Date(0) } },
      /^the model: stop is a Date, which JSON has no word for/,
    ],
    [
      "an instance for a schema",
      { tools: [{ name: "search", parameters: { type: "object", properties: new Map() } }] },
      /^the parameters of tool "search": properties is a Map/,
    ],
    [
      "a policy whose options no fingerprint can tell apart",
      { policy: { ...keepAll(), options: { since: new Date(0) } } },
      /^the options of the policy: since is a Date/,
    ],
    [
      "a model of the summariser that is not data",
      { policy: summarised({ model: { seed: 1n } }) },
      /^the model of the summariser: seed is a bigint/,
    ],
  ])("%s", (_, options, message) => {
    // Only JavaScript may pass these options.
    const make = () => conversationMachine(options as MachineOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });

  it("and an undefined option counts as missing", () => {
    // Only JavaScript may pass these options.
    const options = { polcy: undefined, budget: { tokens: 9, reserve: 1, max: undefined } } as MachineOptions;
    expect(() => conversationMachine(options)).not.toThrow();
  });
});
