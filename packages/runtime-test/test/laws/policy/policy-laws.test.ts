import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "@colloquy/machine/policies";
import { conversationMachine } from "@colloquy/machine";
import {
  composedPolicyArbitrary,
  plainPolicyArbitraries,
  scheduleFor,
  summarisingPolicyArbitraries,
  templateCounter,
} from "@colloquy/runtime-test/arbitraries";
import { type BadOptions, badOptionsAreRefused, checkPolicyLaws, runPolicy } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../runs.ts";

describe("the laws of pruning hold for every policy that is shipped", () => {
  test.each(Object.entries({ ...plainPolicyArbitraries, ...summarisingPolicyArbitraries }))("%s", (_, policies) => {
    for (const policy of fc.sample(policies, { numRuns: runs(3) })) checkPolicyLaws(policy, { runs: runs(8) });
  });

  test("and for compositions of them", () => {
    for (const policy of fc.sample(composedPolicyArbitrary, { numRuns: runs(60) }))
      checkPolicyLaws(policy, { runs: 1 });
  });

  test.each<Policy>([
    tokenWindow(),
    tokenWindow({ cutTo: 0.5 }),
    compactTurns({ keepTurns: 1 }),
    summariseTurns({ maxTurns: 3 }),
    compose(clearResults({ keep: 1 }), fitOversized(), tokenWindow()),
  ])("$name, where prompts are no sums of their messages", (policy) => {
    checkPolicyLaws({ policy, counter: templateCounter }, { runs: runs(8) });
  });
});

/** Casts a value that JavaScript may pass. */
const any = (value: unknown): never => value as never;

const badOptions: readonly BadOptions[] = [
  ...[-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].flatMap((number): readonly BadOptions[] => {
    const value = String(number);
    return [
      { what: `lastTurns(${value})`, build: () => lastTurns(number), value },
      { what: `lastTurns(1, { slack: ${value} })`, build: () => lastTurns(1, { slack: number }), value },
      { what: `lastMessages({ max: ${value} })`, build: () => lastMessages({ max: number, keepRecent: 0 }), value },
      { what: `lastMessages({ keepRecent: ${value} })`, build: () => lastMessages({ keepRecent: number }), value },
      { what: `tokenWindow({ tokens: ${value} })`, build: () => tokenWindow({ tokens: number }), value },
      { what: `tokenWindow({ reserve: ${value} })`, build: () => tokenWindow({ reserve: number }), value },
      { what: `tokenWindow({ cutTo: ${value} })`, build: () => tokenWindow({ cutTo: number }), value },
      { what: `clearResults({ keep: ${value} })`, build: () => clearResults({ keep: number }), value },
      { what: `clearResults({ slack: ${value} })`, build: () => clearResults({ slack: number }), value },
      { what: `limitResults({ characters: ${value} })`, build: () => limitResults({ characters: number }), value },
      { what: `compactTurns({ keepTurns: ${value} })`, build: () => compactTurns({ keepTurns: number }), value },
      { what: `compactTurns({ at: ${value} })`, build: () => compactTurns({ at: number }), value },
      { what: `compactTurns({ maxTokens: ${value} })`, build: () => compactTurns({ maxTokens: number }), value },
      { what: `summariseTurns({ maxTurns: ${value} })`, build: () => summariseTurns({ maxTurns: number }), value },
      { what: `summariseTurns({ keepTurns: ${value} })`, build: () => summariseTurns({ keepTurns: number }), value },
    ];
  }),
  { what: "keepRecent above max", build: () => lastMessages({ max: 3, keepRecent: 4 }), value: "4" },
  { what: "a reserve above tokens", build: () => tokenWindow({ tokens: 3, reserve: 4 }), value: "4" },
  { what: "a share of nothing", build: () => tokenWindow({ cutTo: 0 }), value: "0" },
  { what: "too few characters", build: () => limitResults({ characters: 199 }), value: "199" },
  { what: "no tokens for a summary", build: () => summariseTurns({ maxTokens: 0 }), value: "0" },
  { what: "another when", build: () => clearResults({ when: any("late") }), value: "late" },
  { what: "another rule", build: () => limitResults({ characters: 200, rule: any("burn") }), value: "burn" },
  { what: "another rule", build: () => fitOversized({ rule: any("burn") }), value: "burn" },
  { what: "another of", build: () => fitOversized({ of: any("dreams") }), value: "dreams" },
  { what: "a tool that no reference names", build: () => fitOversized({ tool: "read" }), value: "read" },
  { what: "a level that there is not", build: () => summariseTurns({ level: any("poetic") }), value: "poetic" },
  { what: "names that are no list", build: () => omitFields(any("a")), value: '"a"' },
  { what: "a name that is none", build: () => onlyInputs([""]), value: '""' },
  {
    what: "two that have summaries written",
    build: () => compose(compactTurns(), keepAll(), summariseTurns()),
    value: '"compact-turns" and "summarise-turns"',
  },
  { what: "warnAt", build: () => conversationMachine({ warnAt: 1.5 }), value: "1.5" },
];

describe("P7", () => {
  test("invalid options are refused, and the value is named", () => {
    badOptionsAreRefused(badOptions);
  });

  test.each<Policy>([
    lastTurns(0),
    lastMessages({ max: 0 }),
    tokenWindow({ tokens: 0 }),
    tokenWindow({ tokens: 100, reserve: 100 }),
    summariseTurns({ maxTurns: 0 }),
    compose(keepAll(), lastTurns(0)),
  ])(
    "zero means zero: $name shows no turn that has ended, except pinned messages and the question that leads the prompt",
    (policy) => {
      fc.assert(
        fc.property(scheduleFor({ tools: [{ name: "search" }] }), (schedule) => {
          const looks = runPolicy({ policy, tools: [{ name: "search" }] }, schedule).views.flatMap(
            (view) => view.looks,
          );
          for (const { said, prompt } of looks) {
            // An ask without content is answered from the thread, even if that is hidden.
            if (prompt.failed !== undefined) continue;
            const closed = new Set(said.closed.filter(({ pinned }) => pinned !== true).map(({ id }) => id));
            const lead = prompt.messages.find(({ role }) => role !== "system" && role !== "developer");
            const shown = prompt.messages.filter(
              ({ id, role }) => closed.has(id) && !(role === "user" && id === lead?.id),
            );
            expect(shown).toEqual([]);
            expect(prompt.cut.summarised).toBeUndefined();
          }
        }),
        { numRuns: runs(15) },
      );
    },
  );
});

test.each([
  ["the function that makes one", tokenWindow, /a function: call it/],
  ["nothing", undefined, /not undefined/],
  ["options without one", {}, /not \{\}/],
])("a value that is not a policy is not taken for one: %s", (_, subject, words) => {
  // Only JavaScript may pass this value.
  expect(() => checkPolicyLaws(subject as unknown as Policy)).toThrow(words);
});
