import {
  ConfigurationError,
  conversationMachine,
  lastTurnOf,
  type MachineOptions,
  type Part,
  promptOf,
  textOf,
} from "@colloquy/machine";
import { type Counter, estimateCounter, keepAll, type Policy, type PolicyDecision } from "@colloquy/machine/policies";
import { isConversationMachine, overlapOf } from "@colloquy/machine/hosting";
import { describe, expect, it } from "vitest";

import { Talk } from "../../talk.ts";

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
    [
      "a summary of no tokens",
      { policy: summarised({ maxTokens: 0 }) },
      /maxTokens is 0; it must be a whole number of 1 or more/,
    ],
    [
      "a wait without end",
      { policy: summarised({ waitMs: Number.POSITIVE_INFINITY }) },
      /waitMs is Infinity; it must be a whole number of 0 or more/,
    ],
    ["nothing to summarise by", { policy: summarised({ next: null }) }, /has no function "next"/],
    ["a counter that can't count", { counter: { ...estimateCounter, countPart: 5 } }, /no function "countPart"/],
    ["a counter that owes", { counter: { ...estimateCounter, perMessage: Number.NaN } }, /perMessage is NaN/],
    [
      "a counter that one has to wait for",
      { counter: { ...estimateCounter, countPart: () => Promise.reject(new Error("late")) } },
      /"estimate" counts asynchronously/,
    ],
    ["no time to wait", { idleTimeoutMs: 0 }, /idleTimeoutMs is 0; it must be a whole number of 1 or more/],
    ["half a millisecond", { idleTimeoutMs: 0.5 }, /idleTimeoutMs is 0\.5/],
    ["a share above all", { warnAt: 1.5 }, /warnAt is 1.5/],
    ["a share below zero", { warnAt: -0.5 }, /warnAt is -0.5; it must be from 0 to 1/],
    [
      "another word for an approval",
      { tools: [{ name: "a" }, { name: "b", approval: "never" }] },
      /^the approval of tool "b" is "never"; it must be one of: always, conditional$/,
    ],
    [
      "another word for a recovery",
      { tools: [{ name: "a", recovery: "again" }] },
      /^the recovery of tool "a" is "again"; it must be one of: rerun, interrupted, once, ask$/,
    ],
    ["a list for limits", { limits: [] }, /^limits is given \[\]; it takes an object/],
    ["a list for the model", { model: ["large"] }, /^model is given \["large"\]; it takes an object/],
    ["a policy without a name", { policy: { ...keepAll(), name: "" } }, /^policy must be a policy such as lastTurns/],
    ["a policy of half a version", { policy: { ...keepAll(), version: 1.5 } }, /^policy must be a policy such as/],
    [
      "a summariser with a word for a model",
      { policy: summarised({ model: "small" }) },
      /has the model small; it must/,
    ],
    ["a summariser with a list for a model", { policy: summarised({ model: ["s"] }) }, /has the model s; it must/],
    ["a counter without end", { counter: { ...estimateCounter, perMessage: Infinity } }, /perMessage is Infinity/],
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
    ["half an ask that waits", { overlap: { type: "queue", max: 0.5 } }, /overlap\.max is 0\.5/],
    ["no attempt", { retry: { attempts: 0 } }, /retry\.attempts is 0; it must be a whole number of 1 or more/],
    ["half an attempt", { retry: { attempts: 1.5 } }, /retry\.attempts is 1\.5; it must be/],
    ["a delay below zero", { retry: { baseDelayMs: -1 } }, /retry\.baseDelayMs is -1/],
    ["half a token", { budget: { tokens: 1.5, reserve: 0 } }, /the budget is .*whole numbers/],
    ["half a token of reserve", { budget: { tokens: 2, reserve: 0.5 } }, /the budget is .*whole numbers/],
    ["a reserve above the budget", { budget: { tokens: 2, reserve: 3 } }, /the reserve within the tokens/],
    [
      "a request of no tokens",
      { policy: summarised({ requestTokens: 0 }) },
      /requestTokens is 0; it must be a whole number of 1 or more/,
    ],
    ["a request of half a token", { policy: summarised({ requestTokens: 0.5 }) }, /requestTokens is 0\.5; it must be/],
    ["a prompt that can't be counted", { counter: { ...estimateCounter, countPrompt: 5 } }, /countPrompt must be a/],
    ["a counter that pays", { counter: { ...estimateCounter, perPrompt: -1 } }, /perPrompt is -1/],
    ["two tools of a name", { tools: [{ name: "a" }, { name: "b" }, { name: "b" }] }, /tool "b" is declared twice/],
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

  it("and the least of what is allowed is accepted", () => {
    const options = {
      overlap: { type: "queue", max: 0 },
      retry: { attempts: 1, baseDelayMs: 0, maxDelayMs: 0, maxRetryAfterMs: 0 },
      budget: { tokens: 2, reserve: 2 },
      idleTimeoutMs: 1,
      policy: summarised({ maxTokens: 1, requestTokens: 1, waitMs: 0 }),
      tools: [{ name: "a", approval: "conditional", recovery: "once" }],
    };
    for (const warnAt of [0, 1]) {
      // The policy is made of plain JavaScript.
      expect(() => conversationMachine({ ...options, warnAt } as MachineOptions)).not.toThrow();
    }
  });

  it("and the functions of an instance are called on it, as they were when the machine was made", () => {
    class Characters implements Counter {
      readonly name = "characters";
      readonly version = 1;
      readonly options = {};
      readonly perMessage = 0;
      readonly perPrompt = 0;
      each = 1;
      countPart(part: Part): number {
        return part.type === "text" ? part.text.length * this.each : 0;
      }
    }
    const counter = new Characters();
    const talk = new Talk(conversationMachine({ counter, budget: { tokens: 4, reserve: 0 } }));
    Reflect.set(counter, "countPart", () => 100);
    talk.ask("Hello");
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ unfit: { tokens: 5, available: 4 } });
  });

  it("and a policy may be an instance whose functions read its private members", () => {
    class Newest implements Policy {
      readonly name = "newest";
      readonly version = 1;
      readonly options = {};
      readonly monotone = true;
      readonly stable = false;
      readonly #reason = "only the newest turn";
      decide(): PolicyDecision {
        return { from: { turn: 2, unit: 0 }, reason: this.#reason };
      }
    }
    const talk = new Talk(conversationMachine({ policy: new Newest() }));
    talk.ask("One");
    talk.reply("1");
    talk.ask("Two");
    const { messages, reason, failed } = promptOf(talk.machine, talk.state);
    expect([failed, reason, messages.map(textOf)]).toEqual([undefined, "only the newest turn", ["Two"]]);
  });

  it("and an undefined option counts as missing", () => {
    // Only JavaScript may pass these options.
    const options = { polcy: undefined, budget: { tokens: 9, reserve: 1, max: undefined } } as MachineOptions;
    expect(() => conversationMachine(options)).not.toThrow();
  });
});

it("a host tells a machine from other values, and learns its overlap only if the option was set", () => {
  expect([conversationMachine(), {}, null, "machine"].map(isConversationMachine)).toEqual([true, false, false, false]);
  const overlap = { type: "latest" } as const;
  expect([{}, { overlap }].map((options) => overlapOf(conversationMachine(options)))).toEqual([null, overlap]);
});
