import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  ConfigurationError,
  conversationMachine,
  promptOf,
  type State,
  textOf,
  toArray,
  turnsOf,
} from "../../../src/index.ts";
import { lastTurns, type PolicyDecision } from "../../../src/policies.ts";
import { runs } from "../../runs.ts";
import { Talk } from "../../talk.ts";
import { decide, expectIdempotent, expectWellFormed, idsOf, shownIds } from "./decision-laws.ts";
import { madeUpArbitrary } from "./made-up-arbitrary.ts";
import { cutOf, inputOf, type MadeUp, turn } from "./made-up-history.ts";

const shownIn = (state: State, count: number): readonly string[] =>
  promptOf(conversationMachine({ policy: lastTurns(count) }), state).messages.map(({ id }) => id);

describe("lastTurns", () => {
  test("shows exactly the newest turns of the path, the seed being the oldest", () => {
    const shows = (state: State, count: number) => {
      const { conversation, open } = state.context;
      const made = {
        system: conversation.system,
        seed: conversation.seed,
        turns: turnsOf(state).map(({ number, messages }) => ({ number, messages: toArray(messages) })),
        open: open === null ? conversation.appended : toArray(open.messages),
        pins: conversation.pins.map(({ message }) => message),
      };
      // After the start of all there is come those of the blocks, and one behind them.
      const starts = startsOf(made).slice(1);
      const expected = idsOf(made, { from: starts[Math.max(0, starts.length - 1 - count)] ?? null });
      const shown = shownIn(state, count);
      // Of a turn that is open, results and messages that wait follow.
      expect(open === null ? shown : shown.slice(0, expected.length)).toEqual(expected);
    };
    fc.assert(fc.property(stateArbitrary(), fc.nat({ max: 4 }), shows), { numRuns: runs(150) });
  });

  test("0 shows none but the open turn and the system message", () => {
    const talk = new Talk(conversationMachine({ policy: lastTurns(0) }), { system: "Be brief." });
    talk.ask("One");
    talk.reply("1");
    talk.ask("Two");
    expect(talk.call().messages.map(({ id }) => id)).toEqual(["s1", "2.0"]);
  });

  test("five questions, of which the last two are shown, and all are kept", () => {
    const talk = new Talk(conversationMachine({ policy: lastTurns(2) }));
    for (const question of ["Q0", "Q1", "Q2", "Q3", "Q4"]) {
      talk.ask(question);
      talk.reply("A");
    }
    expect(turnsOf(talk.state)).toHaveLength(5);
    expect(promptOf(talk.machine, talk.state).messages.map(textOf)).toEqual(["Q3", "A", "Q4", "A"]);
    expect(promptOf(talk.machine, talk.state).cut.from).toEqual({ turn: 4, unit: 0 });
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
])("%j can't be meant", (given, message) => {
  // Arguments that only JavaScript may pass.
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

  test.each<readonly [count: number, slack: number, shown: readonly number[]]>([
    [2, 0, [0, 1, 2, 2, 2, 2, 2, 2, 2]],
    [2, 2, [0, 1, 2, 3, 4, 2, 3, 4, 2]],
    [0, 2, [0, 1, 2, 0, 1, 2, 0, 1, 2]],
    [0, 0, [0, 0, 0, 0, 0, 0, 0, 0, 0]],
  ])("%d turns with a slack of %d", (count, slack, shown) => {
    let made: MadeUp & { readonly turns: readonly ReturnType<typeof turn>[] } = { turns: [] };
    const seen = shown.map((_, index) => {
      const decision = decide(lastTurns(count, { slack }), made);
      const messages = idsOf(made, decision).length;
      made = { turns: [...made.turns, turn(index + 1, "q", "a")], lastCut: cutOf(decision) };
      return messages / 2;
    });
    expect(seen).toEqual(shown);
  });

  test("looks at no more turns than it may show, and one more", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    const made = { turns: Array.from({ length: 100 }, (_, index) => turn(index + 1, "q", "a")) };
    lastTurns(3, { slack: 4 }).decide(inputOf(made, looked));
    expect(looked).toEqual({ turns: 8 + 4, units: 0, measured: 0 });
  });
});

/** From each turn on, and nothing. */
const startsOf = ({ seed = [], turns = [] }: MadeUp): readonly PolicyDecision["from"][] => [
  null,
  ...(seed.length > 0 ? [{ turn: 0, unit: 0 }] : []),
  ...turns.map(({ number }) => ({ turn: number, unit: 0 })),
  { turn: 1_000, unit: 0 },
];

/** The plain way: by counting the turns that each start shows. */
const plainly = (made: MadeUp, count: number, slack: number, lastCut: number): Pick<PolicyDecision, "from"> => {
  const starts = startsOf(made);
  const counts = starts.map((_, index) => starts.length - 1 - Math.max(1, index));
  const most = counts.findIndex((turns) => turns <= count + slack);
  const least = counts.findIndex((turns) => turns <= count);
  const start = lastCut < most || (lastCut > least && most > 0) ? least : lastCut > least ? 0 : lastCut;
  return { from: starts[start] ?? null };
};
