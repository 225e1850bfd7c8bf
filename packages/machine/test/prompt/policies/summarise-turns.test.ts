import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, type JsonObject } from "../../../src/index.ts";
import { countPrompt, type PolicyDecision } from "../../../src/policies.ts";
import { summariseTurns, type SummariseTurnsOptions } from "../../../src/prompt/policies/summarise-turns.ts";
import { runs } from "../../runs.ts";
import { decidesAgain, budgetedArbitrary } from "./budgeted-arbitrary.ts";
import { characters, inputOf, type MadeUp, type MadeUpTurn, shownBy, turn } from "./made-up-history.ts";

const summarised = (made: MadeUpTurn, number = made.number): MadeUpTurn => ({
  ...made,
  summaries: [{ number, from: made.number, text: `S${made.number}` }],
});

const failed = (made: MadeUpTurn, summaryFailures: number): MadeUpTurn => ({ ...made, summaryFailures });

/** Draws conversations with and without summaries of their turns, some of which failed. */
const withSummaries: fc.Arbitrary<MadeUp> = fc
  .tuple(budgetedArbitrary, fc.array(fc.nat({ max: 4 }), { minLength: 7, maxLength: 7 }))
  .map(([made, fates]) => ({
    ...made,
    turns: (made.turns ?? []).map((one, index) => {
      const fate = fates[index] ?? 0;
      return fate === 3 ? summarised(one) : failed(one, Math.min(fate, 2));
    }),
  }));

const small = fc.nat({ max: 5 });

/** Returns the closed turns in order; the seed is the oldest. */
const closed = ({ seed = [], turns = [] }: MadeUp): readonly MadeUpTurn[] => [
  ...(seed.length > 0 ? [{ number: 0, messages: seed }] : []),
  ...turns,
];

const isSettled = ({ number, messages, summaries = [], summaryFailures = 0 }: MadeUpTurn): boolean =>
  number === 0 || messages.length === 0 || summaries.length > 0 || summaryFailures >= 2;

/** Returns the numbers of turns that are shown whole, and as summaries. */
const pictured = (made: MadeUp, { from, summarised: lines }: Omit<PolicyDecision, "reason">) => {
  const numbers = closed(made).map(({ number }) => number);
  return {
    whole: numbers.filter((number) => from === null || number > from.turn || (number === from.turn && from.unit === 0)),
    lines: numbers.filter((number) => lines !== undefined && number >= lines.from && number <= lines.to),
  };
};

/** Decides in the simplest way. */
const naive = (made: MadeUp, maxTurns: number, keepTurns: number, withoutSummary: boolean) => {
  const shown = closed(made).slice(-maxTurns || Number.MAX_SAFE_INTEGER);
  let lines = 0;
  while (lines < shown.length - keepTurns && (withoutSummary || isSettled(shown[lines] ?? turn(0)))) lines++;
  const numbers = shown.map(({ number }) => number);
  return { whole: numbers.slice(lines), lines: numbers.slice(0, lines) };
};

describe("summariseTurns", () => {
  test("shows the newest turns, the older of them as lines as far as that can be, as a naive pass does", () => {
    const shows = (made: MadeUp, maxTurns: number, keepTurns: number, withoutSummary: boolean) => {
      const unbound = { ...made, budget: null, withoutSummary };
      const decision = summariseTurns({ maxTurns, keepTurns }).decide(inputOf(unbound));
      expect(pictured(unbound, decision)).toEqual(naive(unbound, maxTurns, keepTurns, withoutSummary));
    };
    fc.assert(fc.property(withSummaries, small, small, fc.boolean(), shows), { numRuns: runs(400) });
  });

  test("fits, or leaves out all closed turns; and as many turns are shown as fit", () => {
    const fits = (made: MadeUp, maxTurns: number, keepTurns: number) => {
      const bound = { ...made, withoutSummary: true };
      const { decide } = summariseTurns({ maxTurns, keepTurns });
      const decision = decide(inputOf(bound));
      const { whole, lines } = pictured(bound, decision);
      const tokens = (shown: Omit<PolicyDecision, "reason">) =>
        countPrompt(made.counter ?? characters, shownBy(bound, shown));
      const room = made.budget?.tokens ?? 0;
      const count = whole.length + lines.length;
      expect(count === 0 || tokens(decision) <= room).toBe(true);
      if (count >= Math.min(maxTurns, closed(made).length)) return;
      expect(decision.pressed).toBe(true);
      const oneMore = summariseTurns({ maxTurns: count + 1, keepTurns }).decide(inputOf({ ...bound, budget: null }));
      expect(tokens(oneMore)).toBeGreaterThan(room);
    };
    fc.assert(fc.property(withSummaries, small, small, fits), { numRuns: runs(400) });
    const turns = Array.from({ length: 5 }, (_, index) => summarised(turn(index + 1, "q".repeat(20), "aaa")));
    for (let tokens = 0; tokens < 150; tokens++) fits({ turns, budget: { tokens, reserve: 0 } }, 5, tokens % 4);
  });

  test("a larger budget shows a superset", () => {
    const grows = (made: MadeUp, maxTurns: number, keepTurns: number, more: number, withoutSummary: boolean) => {
      const at = (tokens: number) => {
        const input = { ...made, withoutSummary, budget: { tokens, reserve: 0 } };
        return pictured(made, summariseTurns({ maxTurns, keepTurns }).decide(inputOf(input)));
      };
      const tokens = made.budget?.tokens ?? 0;
      const [less, most] = [at(tokens), at(tokens + more)];
      expect(most.whole).toEqual(expect.arrayContaining(less.whole));
      expect(most.lines).toEqual(expect.arrayContaining(less.lines));
    };
    fc.assert(fc.property(withSummaries, small, small, fc.nat({ max: 2_000 }), fc.boolean(), grows), {
      numRuns: runs(300),
    });
  });

  test("asked again after its own cut, it decides the same", () => {
    const same = (made: MadeUp, maxTurns: number, keepTurns: number) => {
      const [first, again] = decidesAgain(summariseTurns({ maxTurns, keepTurns }), made);
      expect(again).toEqual(first);
    };
    fc.assert(fc.property(withSummaries, small, small, same), { numRuns: runs(100) });
  });

  test("orders one summary of each turn, oldest first, and retries a failed one once", () => {
    const asks = (made: MadeUp, maxTurns: number, keepTurns: number, fates: readonly boolean[]) => {
      const next = summariseTurns({ maxTurns, keepTurns }).summariser?.next;
      let turns = made.turns ?? [];
      const wanted: number[] = [];
      for (let number = 1; number < 100; number++) {
        const now = next?.(inputOf({ ...made, turns })) ?? null;
        if (now === null) break;
        expect(now.covers.from).toBe(now.covers.to);
        wanted.push(now.covers.to);
        const before = closed(made)
          .filter((one) => one.number < now.covers.to)
          .slice(-maxTurns)
          .map((one) => one.number);
        expect(now.earlier).toEqual(before.length === 0 ? null : { from: before[0], to: before.at(-1) });
        turns = turns.map((one) => {
          if (one.number !== now.covers.to) return one;
          return fates[number] === true ? summarised(one, number) : failed(one, (one.summaryFailures ?? 0) + 1);
        });
      }
      const window = closed({ ...made, turns }).slice(-maxTurns || Number.MAX_SAFE_INTEGER);
      expect(wanted).toEqual(wanted.toSorted((left, right) => left - right));
      expect(keepTurns < maxTurns ? window.every(isSettled) : wanted.length === 0).toBe(true);
      for (const number of wanted) expect(wanted.filter((one) => one === number).length).toBeLessThanOrEqual(2);
    };
    fc.assert(fc.property(withSummaries, small, small, fc.array(fc.boolean(), { minLength: 20 }), asks), {
      numRuns: runs(200),
    });
  });

  test("reads at most twice as many turns as it shows to find the next summary, and one more", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    const turns = Array.from({ length: 100 }, (_, index) => turn(index + 1, "q", "a"));
    const { summariser } = summariseTurns({ maxTurns: 5 });
    expect(summariser?.next(inputOf({ turns }, looked))).toMatchObject({ covers: { from: 96 }, earlier: { from: 91 } });
    expect(looked.turns).toBeLessThanOrEqual(11);
  });

  test.each<readonly [SummariseTurnsOptions, string]>([
    // JavaScript may pass any word.
    [{ level: "medium" as "concise" }, 'summariseTurns({ level }) is "medium"; it must be "verbose" or "concise"'],
    [{ maxTurns: -1 }, "summariseTurns({ maxTurns }) is -1"],
    [{ keepTurns: 0.5 }, "summariseTurns({ keepTurns }) is 0.5"],
    [{ maxTokens: 0 }, "summariseTurns({ maxTokens }) is 0; it must be a whole number of 1 or more"],
    [{ instruction: " " }, 'summariseTurns({ instruction }) is " "'],
    // JavaScript may pass this, too.
    [{ model: "small" as unknown as JsonObject }, 'summariseTurns({ model }) is "small"'],
  ])("refuses %o", (options, words) => {
    expect(() => summariseTurns(options)).toThrow(ConfigurationError);
    expect(() => summariseTurns(options)).toThrow(words);
  });
});
