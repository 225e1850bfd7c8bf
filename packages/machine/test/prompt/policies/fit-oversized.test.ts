import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, messageFromDraft } from "../../../src/index.ts";
import { countPrompt } from "../../../src/policies.ts";
import { fitOversized, type FitOversizedOptions } from "../../../src/prompt/policies/fit-oversized.ts";
import { shrinkMessage } from "../../../src/prompt/shrink.ts";
import { runs } from "../../runs.ts";
import { decidesAgain, budgetedArbitrary } from "./budgeted-arbitrary.ts";
import { characters, inputOf, type MadeUp, messagesOf, said, shownBy } from "./made-up-history.ts";

const ladder = [65_536, 32_768, 16_384, 8_192, 4_096, 2_048, 1_024, 512, 256, 200];

/** The slow way: all that is fixed, in a list, shrunk by each limit in turn. */
const naiveLimit = (made: MadeUp, rule: "headAndTail" | "reference", of: "messages" | "toolResults"): number | null => {
  const counter = made.counter ?? characters;
  const room = made.budget?.tokens ?? 0;
  const { history } = inputOf(made);
  const open = made.open ?? [];
  const lead = open[0] === undefined ? null : history.lead({ turn: (made.turns?.at(-1)?.number ?? 0) + 1, unit: 0 });
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
  test("takes the largest limit by which what must be shown fits, as trying all of them does", () => {
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

  const oversized: MadeUp = {
    system: said("s1", "system", "s".repeat(300)),
    turns: [{ number: 1, messages: messagesOf(1, ["p".repeat(300), "answer"]) }],
    open: messagesOf(2, ["q".repeat(5_000), ["r".repeat(5_000)]]),
    pins: ["1.0"],
    budget: { tokens: 4_000, reserve: 0 },
  };

  test("shrinks the open turn, and neither the system message nor what is pinned", () => {
    const decision = fitOversized().decide(inputOf(oversized));
    expect(decision.pressed).toBe(true);
    const lengths = shownBy(oversized, decision).map((message) => countPrompt(characters, [message]) - 1);
    expect(lengths).toEqual([300, 300, 6, 1_024, 6, 1_024]);
  });

  test("of toolResults it leaves alone what was said", () => {
    const made = { ...oversized, budget: { tokens: 8_000, reserve: 0 } };
    const shown = shownBy(made, fitOversized({ of: "toolResults" }).decide(inputOf(made)));
    expect(shown.slice(-3).map((message) => countPrompt(characters, [message]) - 1)).toEqual([5_000, 6, 2_048]);
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

  test("closed turns, however large, are no reason; nor is a thread without a budget", () => {
    const made: MadeUp = {
      turns: [{ number: 1, messages: messagesOf(1, ["x".repeat(9_000)]) }],
      open: [said("2.0", "user", "Hi")],
    };
    expect(limitOf({ ...made, budget: { tokens: 100, reserve: 0 } })).toBeNull();
    expect(limitOf({ ...oversized, budget: null })).toBeNull();
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
