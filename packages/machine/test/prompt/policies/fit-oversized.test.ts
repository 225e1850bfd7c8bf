import { describe, expect, test } from "vitest";
import { ConfigurationError, messageFromDraft, textOf } from "../../../src/index.ts";
import { countPrompt } from "../../../src/policies.ts";
import { fitOversized, type FitOversizedOptions } from "../../../src/prompt/policies/fit-oversized.ts";
import { shrinkMessage } from "../../../src/prompt/shrink.ts";
import { runs } from "../../runs.ts";
import { budgetedArbitrary, decidesAgain } from "./budgeted-arbitrary.ts";
import { characters, inputOf, type MadeUp, messagesOf, said, shownBy, turn } from "./made-up-history.ts";
import { limitResults, type LimitResultsOptions } from "../../../src/prompt/policies/limit-results.ts";

import fc from "fast-check";

const ladder = [65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 256, 200];

/** Shrinks a plain list of all fixed messages by each limit in turn. */
const naiveLimit = (made: MadeUp, rule: "headAndTail" | "reference", of: "messages" | "toolResults"): number | null => {
  const counter = made.counter ?? characters;
  const room = made.budget?.tokens ?? 0;
  const { history } = inputOf(made);
  const open = made.open ?? [];
  // A question also leads an open turn that says nothing.
  const isLed = open[0] !== undefined || made.isOpen === true;
  const lead = isLed ? history.lead({ turn: (made.turns?.at(-1)?.number ?? 0) + 1, unit: 0 }) : null;
  const fixed = [...(lead === null ? [] : [lead]), ...history.fixed()];
  const tokens = (limit: number): number =>
    countPrompt(
      counter,
      fixed.flatMap((unit) =>
        unit.id === "s1" || unit.pinned === true
          ? unit.messages
          : unit.messages.map((message) => shrinkMessage(message, [{ rule, of, characters: limit }])),
      ),
    );
  if (tokens(Number.MAX_SAFE_INTEGER) <= room) return null;
  return ladder.find((limit) => tokens(limit) <= room) ?? 200;
};

const limitOf = (made: MadeUp, options?: FitOversizedOptions): number | null =>
  fitOversized(options).decide(inputOf(made)).shrink?.[0]?.characters ?? null;

describe("fitOversized", () => {
  test("takes the largest limit at which the fixed units fit, like a trial of all limits", () => {
    const takes = (made: MadeUp, rule: "headAndTail" | "reference", of: "messages" | "toolResults") => {
      expect(limitOf(made, { rule, of })).toBe(naiveLimit(made, rule, of));
    };
    const rules = fc.constantFrom<"headAndTail" | "reference">("headAndTail", "reference");
    const of = fc.constantFrom<"messages" | "toolResults">("messages", "toolResults");
    const large = budgetedArbitrary.map((made) => ({
      ...made,
      open: [...(made.open ?? []), said("99.0", "user", "x".repeat(9_000))],
    }));
    fc.assert(fc.property(fc.oneof(budgetedArbitrary, large), rules, of, takes), { numRuns: runs(200) });
  });

  test("tries each step of two", () => {
    const open = [said("1.0", "user", "x".repeat(70_000))];
    for (const limit of ladder)
      expect(limitOf({ open, budget: { tokens: limit + characters.perMessage, reserve: 0 } })).toBe(limit);
  });

  test("asked again after its own cut, it decides the same", () => {
    const same = (made: MadeUp) => {
      const [first, again] = decidesAgain(fitOversized(), made);
      expect(again).toEqual(first);
    };
    fc.assert(fc.property(budgetedArbitrary, same), { numRuns: runs(100) });
  });

  test("names the tool that reads the whole in a reference, and none otherwise", () => {
    const open = [said("1.0", "user", "x"), ...messagesOf(1, [["c".repeat(500)]]).slice(-2)];
    const made: MadeUp = { open, budget: { tokens: 400, reserve: 0 } };
    const lastOf = (options: FitOversizedOptions) => {
      const policy = fitOversized({ rule: "reference", ...options });
      const shown = shownBy(made, policy.decide(inputOf(made))).map(textOf);
      return [policy.options, shown.at(-1)];
    };
    const options = { rule: "reference", of: "messages" };
    expect(lastOf({ tool: "read_back" })).toEqual([
      { ...options, tool: "read_back" },
      expect.stringContaining("Read it with read_back."),
    ]);
    expect(lastOf({})).toEqual([options, expect.stringMatching(/is left out\. …\]$/)]);
  });

  test("shrinks a data field that is too large", () => {
    const asked = messageFromDraft("1.0", {
      role: "user",
      content: [{ type: "data", field: "documents", value: ["d".repeat(3_000)] }],
    });
    const made: MadeUp = { open: [asked], budget: { tokens: 1_500, reserve: 0 } };
    const shown = shownBy(made, fitOversized().decide(inputOf(made)));
    expect(countPrompt(characters, shown)).toBeLessThanOrEqual(1_500);
  });

  test.each<readonly [FitOversizedOptions, string]>([
    [{ tool: "read_back" }, "only a reference"],
    // JavaScript may pass any word.
    [{ of: "all" as "messages" }, 'fitOversized({ of }) is "all"; it must be "messages" or "toolResults"'],
    [{ rule: "clear" as "reference" }, 'fitOversized({ rule }) is "clear"'],
  ])("refuses %o", (options, words) => {
    expect(() => fitOversized(options)).toThrow(ConfigurationError);
    expect(() => fitOversized(options)).toThrow(words);
  });
});

const made = {
  turns: [turn(1, "x".repeat(500), ["a".repeat(500), "b".repeat(300)], "y".repeat(500))],
  open: messagesOf(2, ["z".repeat(500), ["c".repeat(500)]]),
  pins: ["2.0"],
};

describe("limitResults", () => {
  test("a reference names the tool that reads the whole", () => {
    const { decide, options } = limitResults({ characters: 250, rule: "reference", tool: "read_back" });
    expect(options).toEqual({ characters: 250, rule: "reference", tool: "read_back" });
    const shown = shownBy(made, decide(inputOf(made))).map(textOf);
    expect(shown.slice(-1)[0]).toContain("Read it with read_back.");
  });

  test.each<readonly [LimitResultsOptions, string]>([
    [{ characters: 199 }, "limitResults({ characters }) is 199; it must be a whole number of 200 or more"],
    [{ characters: 0 }, "is 0"],
    [{ characters: Number.POSITIVE_INFINITY }, "is Infinity"],
    [{ characters: 500, tool: "read_back" }, 'is "read_back", which only a reference names'],
    [{ characters: 500, rule: "reference", tool: "" }, 'limitResults({ tool }) is ""'],
    [{ characters: 500, rule: "reference", tool: "t".repeat(65) }, "room for 64 characters"],
    // JavaScript may pass any word.
    [{ characters: 500, rule: "clear" as "reference" }, 'limitResults({ rule }) is "clear"'],
    [undefined as unknown as LimitResultsOptions, "write limitResults({ characters: 4_000 })"],
    [{} as LimitResultsOptions, "limitResults({ characters }) is undefined"],
  ])("refuses %o", (options, words) => {
    expect(() => limitResults(options)).toThrow(ConfigurationError);
    expect(() => limitResults(options)).toThrow(words);
  });
});
