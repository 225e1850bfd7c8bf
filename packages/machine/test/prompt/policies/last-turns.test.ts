import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ConfigurationError,
  conversationMachine,
  type Message,
  promptOf,
  type State,
  toArray,
  turnsOf,
} from "../../../src/index.ts";
import { keepAll, lastTurns, type PolicyDecision } from "../../../src/policies.ts";
import { runs } from "../../runs.ts";
import { expectIdempotent, expectWellFormed, idsOf, shownIds } from "./decision-laws.ts";
import { madeUpArbitrary } from "./made-up-arbitrary.ts";
import { cutOf, inputOf, type MadeUp, turn } from "./made-up-history.ts";

const shownIn = (state: State, count: number): readonly string[] =>
  promptOf(conversationMachine({ policy: lastTurns(count) }), state).messages.map(({ id }) => id);

/** The messages of the open turn as prompts show them, with those that wait. */
const openIn = (state: State): readonly Message[] =>
  promptOf(conversationMachine({ policy: keepAll() }), state).messages.filter(({ id }) =>
    id.startsWith(`${state.context.conversation.turns.length + 1}.`),
  );

describe("lastTurns", () => {
  test("shows exactly the newest turns of the path, the seed being the oldest", () => {
    const shows = (state: State, count: number) => {
      const { conversation, open } = state.context;
      const made = {
        system: conversation.system,
        seed: conversation.seed,
        turns: turnsOf(state).map(({ number, messages }) => ({ number, messages: toArray(messages) })),
        open: open === null ? conversation.appended : openIn(state),
        isOpen: open !== null,
        pins: conversation.pins.map(({ message }) => message),
      };
      // The first start shows everything; then come those of the blocks, and one after them.
      const starts = startsOf(made).slice(1);
      const from = starts[Math.max(0, starts.length - 1 - count)] ?? null;
      // A turn that says nothing itself needs something of the thread, so it is shown everything rather than nothing.
      const saysNothing = made.isOpen && made.open.length === 0;
      const showsNothing = idsOf({ ...made, system: null, open: [], isOpen: false }, { from }).length === 0;
      expect(shownIn(state, count)).toEqual(idsOf(made, { from: saysNothing && showsNothing ? null : from }));
    };
    fc.assert(fc.property(stateArbitrary(), fc.nat({ max: 4 }), shows), { numRuns: runs(150) });
  });

  test.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("%d turns are invalid", (count) => {
    for (const build of [() => lastTurns(count), () => lastTurns(3, { slack: count })]) {
      expect(build).toThrow(ConfigurationError);
      expect(build).toThrow(String(count));
    }
  });
});

test.each<readonly [readonly unknown[], string]>([
  [["3"], 'lastTurns(count) is "3"; it must be a whole number'],
  [[{ count: 3 }], 'lastTurns(count) is {"count":3}; it must'],
  [[3, { slak: 1 }], 'has no option "slak"; there are slack'],
  [[3, 1], "is given 1; it takes an object of slack"],
])("%j is refused", (given, message) => {
  // Only JavaScript may pass these arguments.
  const make = () => lastTurns(...(given as Parameters<typeof lastTurns>));
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});

describe("lastTurns with slack", () => {
  test("is cut to so many when there are more than the slack, and then left alone", () => {
    const holds = (given: MadeUp, count: number, slack: number, nth: number) => {
      const made = { ...given, turns: given.turns?.filter(({ messages }) => messages.length > 0) ?? [] };
      const starts = startsOf(made).slice(0, -1);
      const lastCut = nth % starts.length;
      const cut = { ...made, lastCut: cutOf({ from: starts[lastCut] ?? null, reason: "" }) };
      const policy = lastTurns(count, { slack });
      expect(shownIds(policy, cut)).toEqual(idsOf(cut, plainly(cut, count, slack, lastCut)));
      expectWellFormed(policy, cut);
      expectIdempotent(policy, cut);
    };
    const counts = fc.nat({ max: 3 });
    fc.assert(fc.property(madeUpArbitrary(), counts, counts, fc.nat({ max: 9 }), holds), { numRuns: runs(300) });
  });

  test("looks at no more turns than it may show, and one more", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    const made = { turns: Array.from({ length: 100 }, (_, index) => turn(index + 1, "q", "a")) };
    lastTurns(3, { slack: 4 }).decide(inputOf(made, looked));
    expect(looked).toEqual({ turns: 8 + 4, units: 0, measured: 0 });
  });
});

/** Returns the starts: each turn, and the end. */
const startsOf = ({ seed = [], turns = [] }: MadeUp): readonly PolicyDecision["from"][] => [
  null,
  ...(seed.length > 0 ? [{ turn: 0, unit: 0 }] : []),
  ...turns.map(({ number }) => ({ turn: number, unit: 0 })),
  { turn: 1_000, unit: 0 },
];

/** Decides by counting the turns from each start on. */
const plainly = (made: MadeUp, count: number, slack: number, lastCut: number): Pick<PolicyDecision, "from"> => {
  const starts = startsOf(made);
  const counts = starts.map((_, index) => starts.length - 1 - Math.max(1, index));
  const most = counts.findIndex((turns) => turns <= count + slack);
  const least = counts.findIndex((turns) => turns <= count);
  const start = lastCut < most || (lastCut > least && most > 0) ? least : lastCut > least ? 0 : lastCut;
  return { from: starts[start] ?? null };
};
