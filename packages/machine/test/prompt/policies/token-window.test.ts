import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, conversationMachine, promptOf, type State } from "../../../src/index.ts";
import {
  compose,
  type Counter,
  countPrompt,
  lastTurns,
  type Policy,
  type PolicyDecision,
  tokenWindow,
  type TokenWindowOptions,
} from "../../../src/policies.ts";
import { runs } from "../../runs.ts";
import { decide, expectIdempotent, expectMonotone, expectWellFormed, idsOf, shownIds } from "./decision-laws.ts";
import { lastCutArbitrary, madeUpArbitrary } from "./made-up-arbitrary.ts";
import {
  budgeted,
  characters,
  closedUnits,
  cutOf,
  inputOf,
  inSteps,
  type MadeUp,
  shownBy,
  turn,
} from "./made-up-history.ts";

/**
 * Returns the places at which a prompt may start, the longest prompt first; the last shows nothing. A turn in which
 * nothing is said is such a place: the last question leads what comes after it.
 */
const startsOf = (made: MadeUp): readonly PolicyDecision["from"][] => {
  const units = closedUnits(made).map(({ turn, position }) => ({ turn, unit: position }));
  const silent = (made.turns ?? []).filter(({ messages }) => messages.length === 0);
  const starts = [...units, ...silent.map(({ number }) => ({ turn: number, unit: 0 }))];
  return [
    null,
    ...starts.toSorted((one, other) => one.turn - other.turn || one.unit - other.unit),
    { turn: 1_000, unit: 0 },
  ];
};

/** Decides by trying all starts, from the oldest on, until the prompt is small enough. */
const plainly = (made: MadeUp, room: number): Pick<PolicyDecision, "from"> => {
  const counter = made.counter ?? characters;
  const fitting = startsOf(made).find((from) => countPrompt(counter, shownBy(made, { from })) <= room);
  return { from: fitting === undefined ? { turn: 1_000, unit: 0 } : fitting };
};

/** Decides on a deep cut that stays, by the number of skipped starts. */
const plainlyCut = (made: MadeUp, room: number, cutTo: number, lastCut: number): Pick<PolicyDecision, "from"> => {
  const counter = made.counter ?? characters;
  const starts = startsOf(made);
  const sizes = starts.map((from) => countPrompt(counter, shownBy(made, { from })));
  const fixed = sizes.at(-1) ?? 0;
  const firstWithin = (tokens: number): number => {
    const found = sizes.findIndex((size) => size <= tokens);
    return found < 0 ? starts.length - 1 : found;
  };
  const most = firstWithin(room);
  // The start before the end, which shows nothing.
  const newestUnit = Math.max(0, starts.length - 2);
  const deep = firstWithin(fixed + (room - fixed) * cutTo);
  const least = newestUnit >= most ? Math.min(deep, newestUnit) : deep;
  const start = lastCut < most || (lastCut > least && most > 0) ? least : lastCut > least ? 0 : lastCut;
  return { from: starts[start] ?? null };
};

const counters: readonly Counter[] = [characters, inSteps];

describe("tokenWindow", () => {
  test.each(counters)("shows as many of the newest units as fit: $name", (counter) => {
    const holds = (made: MadeUp, tokens: number) => {
      const counted = { ...made, counter, ...budgeted(tokens) };
      const plain = plainly(counted, tokens);
      expect(shownIds(tokenWindow(), counted)).toEqual(idsOf(counted, plain));
      expect(plain.from !== null || decide(tokenWindow(), counted).from === null).toBe(true);
      expectWellFormed(tokenWindow(), counted);
      expectIdempotent(tokenWindow(), counted);
    };
    fc.assert(fc.property(madeUpArbitrary(), fc.nat({ max: counter === characters ? 900 : 90 }), holds), {
      numRuns: runs(300),
    });
  });

  test("says that it was pressed when it leaves something out, and only then", () => {
    const holds = (made: MadeUp, tokens: number) => {
      const decision = decide(tokenWindow(), { ...made, ...budgeted(tokens) });
      expect(decision.pressed ?? false).toBe(decision.from !== null);
      expect(decision.reason).toBe(`${decision.from === null ? "all" : "older than what"} fits into ${tokens} tokens`);
    };
    fc.assert(fc.property(madeUpArbitrary(), fc.nat({ max: 900 }), holds), { numRuns: runs(100) });
  });

  test.each<readonly [string, TokenWindowOptions, Partial<MadeUp>, number | null]>([
    ["nobody's: everything is shown", {}, {}, null],
    ["the machine's, without its reserve", {}, { budget: { tokens: 30, reserve: 10 } }, 20],
    ["its own, without its reserve", { tokens: 40, reserve: 10 }, {}, 30],
    ["its own, where that is smaller", { tokens: 20 }, budgeted(30), 20],
    ["the machine's, where that is smaller", { tokens: 40 }, budgeted(30), 30],
    ["the machine's, less a larger reserve", { reserve: 15 }, { budget: { tokens: 30, reserve: 10 } }, 15],
    ["what is left when the tokens are calibrated", {}, { ...budgeted(40), calibration: 2 }, 20],
    ["its own, calibrated too", { tokens: 40 }, { ...budgeted(1_000), calibration: 1.5 }, 26],
    ["none, where the reserve takes all", { reserve: 99 }, budgeted(30), 0],
  ])("the room is %s", (_, options, more, room) => {
    // Turns of 1 + 2 characters and two messages take 5 each.
    const made = { turns: Array.from({ length: 20 }, (__, index) => turn(index + 1, "q", "aa")), ...more };
    const shown = shownIds(tokenWindow(options), made);
    // A unit of 2 may fit where a turn does not.
    const expected = room === null ? 40 : Math.floor(room / 5) * 2 + (room % 5 >= 3 ? 1 : 0);
    expect(shown).toHaveLength(expected);
  });

  test("0 tokens are room for nothing", () => {
    const made = { turns: [turn(1, "", "")], counter: { ...characters, perMessage: 1 } };
    expect(shownIds(tokenWindow({ tokens: 0 }), made)).toEqual([]);
  });

  test.each<readonly [TokenWindowOptions, string]>([
    [{ tokens: -1 }, "-1"],
    [{ tokens: 1.5 }, "1.5"],
    [{ tokens: Number.POSITIVE_INFINITY }, "Infinity"],
    [{ reserve: Number.NaN }, "NaN"],
    [{ tokens: 10, reserve: 11 }, "at most"],
    [{ cutTo: 0 }, "0"],
    [{ cutTo: 1.1 }, "1.1"],
    [{ cutTo: Number.NaN }, "NaN"],
    // JavaScript may pass a text.
    [{ cutTo: "0.5" as unknown as number }, 'tokenWindow({ cutTo }) is "0.5"; it must be a share of the room, above 0'],
    // It may also pass anything in place of the options, or unknown ones.
    [4_000 as TokenWindowOptions, "tokenWindow is given 4000; it takes an object of tokens, reserve, cutTo"],
    [{ token: 5 } as TokenWindowOptions, 'tokenWindow has no option "token"; there are tokens, reserve, cutTo'],
  ])("%j is refused", (options, word) => {
    expect(() => tokenWindow(options)).toThrow(ConfigurationError);
    expect(() => tokenWindow(options)).toThrow(word);
  });
});

describe("tokenWindow with cutTo", () => {
  const withLastCut = madeUpArbitrary().chain((made) =>
    lastCutArbitrary(made).map((lastCut) => ({ ...made, lastCut })),
  );
  const shares = fc.constantFrom(0.1, 0.5, 0.9, 1);

  test.each(counters)(
    "fits, asked again decides the same, and shows more where there is more room: $name",
    (counter) => {
      const holds = (given: MadeUp, tokens: number, more: number, cutTo: number) => {
        const made = { ...given, counter };
        const policy = tokenWindow({ cutTo });
        const within = { ...made, ...budgeted(tokens) };
        const decision = decide(policy, within);
        const takes = countPrompt(counter, shownBy(made, decision));
        const fixed = countPrompt(counter, shownBy(made, { from: { turn: 1_000, unit: 0 } }));
        expect(takes).toBeLessThanOrEqual(Math.max(tokens, fixed));
        expectWellFormed(policy, within);
        expectIdempotent(policy, within);
        expectMonotone(policy, made, tokens, more);
      };
      const most = counter === characters ? 900 : 90;
      fc.assert(fc.property(withLastCut, fc.nat({ max: most }), fc.nat({ max: most / 3 }), shares, holds), {
        numRuns: runs(300),
      });
    },
  );

  test("keeps its cut while that fits, and else cuts to the given depth", () => {
    const holds = (given: MadeUp, tokens: number, cutTo: number, nth: number) => {
      const turns = given.turns?.filter(({ messages }) => messages.length > 0) ?? [];
      const made = { ...given, turns, ...budgeted(tokens) };
      const starts = startsOf(made).slice(0, -1);
      const lastCut = nth % Math.max(1, starts.length);
      const cut = { ...made, lastCut: cutOf({ from: starts[lastCut] ?? null, reason: "" }) };
      const expected = plainlyCut(cut, tokens, cutTo, lastCut);
      expect(shownIds(tokenWindow({ cutTo }), cut)).toEqual(idsOf(cut, expected));
    };
    fc.assert(fc.property(madeUpArbitrary(), fc.nat({ max: 900 }), shares, fc.nat({ max: 30 }), holds), {
      numRuns: runs(400),
    });
  });
});

test("tokenWindow shows at least the newest unit after a deeper cut, and nothing else of its turn but the question", () => {
  const turns = [turn(1, "q".repeat(50), "a".repeat(50)), turn(2, "q".repeat(5), ["found"], "a".repeat(60))];
  expect(shownIds(tokenWindow({ cutTo: 0.5 }), { turns, ...budgeted(100) })).toEqual(["2.0", "2.2"]);
  expect(shownIds(tokenWindow(), { turns, ...budgeted(100) })).toHaveLength(4);
});

describe("tokenWindow in a machine", () => {
  /** Hides the machine's own search for the newest units. */
  const turnByTurn = (policy: Policy): Policy => ({
    ...policy,
    decide: (input) => policy.decide({ ...input, history: { ...input.history } }),
  });

  const policies = fc
    .record({ tokens: fc.nat({ max: 150 }), cutTo: fc.constantFrom(0.5, 1), turns: fc.nat({ max: 4 }) })
    .map(({ turns, ...options }) => [tokenWindow(options), compose(lastTurns(turns), tokenWindow(options))]);

  test("decides as it does turn by turn", () => {
    const holds = (state: State, both: readonly Policy[]) => {
      for (const policy of both) {
        const prompts = [policy, turnByTurn(policy)].map((one) =>
          promptOf(conversationMachine({ policy: one }), state),
        );
        const [faster, slower] = prompts.map(({ cut, failed }) => ({ cut, failed }));
        expect(faster).toEqual(slower);
      }
    };
    fc.assert(fc.property(stateArbitrary(), policies, holds), { numRuns: runs(150) });
  });
});

describe("the cost of tokenWindow", () => {
  const made: MadeUp = {
    turns: Array.from({ length: 1_000 }, (_, index) => turn(index + 1, "1234", "5678")),
    ...budgeted(1_000),
  };

  test("the window's turns and one more, and the units of that one alone", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    tokenWindow().decide(inputOf(made, looked));
    expect(looked).toEqual({ turns: 101, units: 1, measured: 0 });
  });

  test("where only whole prompts can be counted, a few prompts no more than twice as long", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    tokenWindow().decide(inputOf({ ...made, counter: inSteps, ...budgeted(100) }, looked));
    expect(looked.turns).toBe(128);
    expect(looked.units).toBe(1);
    expect(looked.measured).toBeLessThan(20);
  });
});
