import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/index.ts";
import { lastMessages, type LastMessagesOptions, type PolicyDecision } from "../../../src/policies.ts";
import { runs } from "../../runs.ts";
import { decide, expectIdempotent, expectMonotone, expectWellFormed, idsOf, shownIds } from "./decision-laws.ts";
import { madeUpArbitrary } from "./made-up-arbitrary.ts";
import { closedUnits, cutOf, inputOf, type MadeUp, shownBy, turn } from "./made-up-history.ts";

const startsOf = (made: MadeUp): readonly PolicyDecision["from"][] => [
  null,
  ...closedUnits(made).map((unit) => ({ turn: unit.turn, unit: unit.position })),
  { turn: 1_000, unit: 0 },
];

/** Decides by counting the messages from each start on, with their leading question but without the system message. */
const plainly = (made: MadeUp, max: number, keepRecent: number, lastCut: number): Pick<PolicyDecision, "from"> => {
  const starts = startsOf(made);
  const counts = starts.map((from) => {
    const unpinned = { ...made, system: null, pins: [] };
    // Pins do not count, but a pinned message before a window means that no other question must lead it.
    return shownBy(unpinned, { from }).length - leadLength(unpinned, from) + leadLength(made, from);
  });
  const firstWithin = (most: number): number => {
    const found = counts.findIndex((count) => count <= most);
    return found < 0 ? starts.length - 1 : found;
  };
  const [most, least] = [firstWithin(max), firstWithin(keepRecent)];
  const start = lastCut < most || (lastCut > least && most > 0) ? least : lastCut > least ? 0 : lastCut;
  return { from: starts[start] ?? null };
};

const leadLength = (made: MadeUp, from: PolicyDecision["from"]): number =>
  from === null ? 0 : (inputOf(made).history.lead(from)?.messages.length ?? 0);

describe("lastMessages", () => {
  test("is cut to the last ones when there are too many, on the boundary of a unit, and then left alone", () => {
    const holds = (given: MadeUp, max: number, keep: number, nth: number, keepSystem: boolean) => {
      const made = { ...given, turns: given.turns?.filter(({ messages }) => messages.length > 0) ?? [] };
      const keepRecent = Math.min(keep, max);
      const starts = startsOf(made).slice(0, -1);
      const lastCut = nth % starts.length;
      const cut = { ...made, lastCut: cutOf({ from: starts[lastCut] ?? null, reason: "" }) };
      const policy = lastMessages({ max, keepRecent, keepSystem });
      const expected = plainly(cut, max, keepRecent, lastCut);
      const system = keepSystem || decide(policy, cut).from === null ? {} : { system: "omit" as const };
      expect(shownIds(policy, cut)).toEqual(idsOf(cut, { ...expected, ...system }));
      expectWellFormed(policy, cut);
      expectIdempotent(policy, cut);
      expectMonotone(policy, cut, 10, 100);
    };
    const counts = fc.nat({ max: 12 });
    fc.assert(fc.property(madeUpArbitrary(), counts, counts, fc.nat({ max: 30 }), fc.boolean(), holds), {
      numRuns: runs(400),
    });
  });

  test("looks at no more turns than it may show, and one more", () => {
    const made = { turns: Array.from({ length: 2_000 }, (_, index) => turn(index + 1, "a", "b")) };
    const looked = { turns: 0, units: 0, measured: 0 };
    lastMessages().decide(inputOf(made, looked));
    expect(looked.turns).toBeLessThan(40);
    expect(looked.units).toBeLessThanOrEqual(2);
  });

  test.each<readonly [LastMessagesOptions, string]>([
    [{ max: -1 }, "-1"],
    [{ max: 2.5 }, "2.5"],
    [{ keepRecent: Number.NaN }, "NaN"],
    [{ max: 5, keepRecent: 6 }, "more than max"],
    [{ keepSystem: "no" as unknown as boolean }, 'lastMessages({ keepSystem }) is "no"; it must be true or false'],
  ])("%j is refused", (options, word) => {
    expect(() => lastMessages(options)).toThrow(ConfigurationError);
    expect(() => lastMessages(options)).toThrow(word);
  });
});

test.each<readonly [LastMessagesOptions, boolean, boolean]>([
  [{}, false, true],
  [{ max: 5, keepRecent: 4 }, false, true],
  [{ max: 5, keepRecent: 5 }, true, false],
  [{ max: 5, keepRecent: 5, keepSystem: false }, false, false],
  [{ max: 0 }, true, false],
])(
  "with the options %j, lastMessages declares that it is monotone: %s, and stable: %s",
  (options, monotone, stable) => {
    expect(lastMessages(options)).toMatchObject({ monotone, stable });
  },
);
