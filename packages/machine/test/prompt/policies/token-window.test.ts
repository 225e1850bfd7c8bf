import { stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, conversationMachine, promptOf, type State, textOf } from "../../../src/index.ts";
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
import { Talk } from "../../talk.ts";
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

/** Returns the places at which a prompt may start, the longest prompt first; the last shows nothing. */
const startsOf = (made: MadeUp): readonly PolicyDecision["from"][] => [
  null,
  ...closedUnits(made).map(({ turn, position }) => ({ turn, unit: position })),
  { turn: 1_000, unit: 0 },
];

/** The plain way: the first of all starts, from the oldest on, whose prompt is small enough. */
const plainly = (made: MadeUp, room: number): Pick<PolicyDecision, "from"> => {
  const counter = made.counter ?? characters;
  const fitting = startsOf(made).find((from) => countPrompt(counter, shownBy(made, { from })) <= room);
  return { from: fitting === undefined ? { turn: 1_000, unit: 0 } : fitting };
};

/** The plain way of cutting deep and staying, by how many starts are passed over. */
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
  // The one before the end, where nothing is shown; the first stands for all.
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
      expect(shownIds(tokenWindow(), counted)).toEqual(idsOf(counted, plainly(counted, tokens)));
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

  test("five utterances of a template in room for three: what fits exactly fits", () => {
    const talk = new Talk(
      conversationMachine({
        policy: tokenWindow({ tokens: 20 }),
        counter: templated,
        budget: { tokens: 1_000, reserve: 0 },
        calibrate: false,
      }),
      { system: "" },
    );
    const said = (index: number) => `w${index} a b`;
    for (const index of [0, 2]) {
      talk.ask(said(index));
      talk.reply(said(index + 1));
    }
    talk.tell({ type: "message.appended", message: { role: "user", content: said(4) } });
    const { messages, tokens } = promptOf(talk.machine, talk.state);
    expect(messages.map(textOf).filter((text) => text !== "")).toEqual([said(2), said(3), said(4)]);
    expect(tokens).toBe(20);
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
    // Turns of 1 + 2 characters and two messages: 5 each.
    const made = { turns: Array.from({ length: 20 }, (__, index) => turn(index + 1, "q", "aa")), ...more };
    const shown = shownIds(tokenWindow(options), made);
    // A unit of 2 may fit where a turn does not.
    const expected = room === null ? 40 : Math.floor(room / 5) * 2 + (room % 5 >= 3 ? 1 : 0);
    expect(shown).toHaveLength(expected);
  });

  test("what is pinned in a turn that is shown in part takes its room once", () => {
    const said = "x".repeat(10);
    const whole = turn(1, said, said, said, said);
    const tokens = countPrompt(characters, whole.messages.slice(1));
    const made = { turns: [whole], pins: ["1.2"] };
    expect(shownIds(tokenWindow({ tokens }), made)).toEqual(["1.0", "1.2", "1.3"]);
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
    // Or anything in place of the options, or beside them.
    [4_000 as TokenWindowOptions, "tokenWindow is given 4000; it takes an object of tokens, reserve, cutTo"],
    [{ token: 5 } as TokenWindowOptions, 'tokenWindow has no option "token"; there are tokens, reserve, cutTo'],
  ])("%j can't be meant", (options, word) => {
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

  test("stays where it was while that fits, else cuts as deep as it should", () => {
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

  test("cuts deep, leaves the beginning alone, and cuts again when the room is full", () => {
    const policy = tokenWindow({ cutTo: 0.5 });
    let made: MadeUp & { turns: readonly ReturnType<typeof turn>[] } = { turns: [], ...budgeted(100) };
    const starts: string[] = [];
    for (let number = 1; number <= 40; number++) {
      const decision = decide(policy, made);
      const shown = shownBy(made, decision);
      expect(countPrompt(characters, shown)).toBeLessThanOrEqual(100);
      starts.push(shown[0]?.id ?? "");
      // Ten characters a turn.
      made = { ...made, turns: [...made.turns, turn(number, "1234", "5678")], lastCut: cutOf(decision) };
    }
    // Ten turns fill the room, and five are left.
    expect([...new Set(starts.slice(1))]).toEqual(["1.0", "7.0", "13.0", "19.0", "25.0", "31.0"]);
  });

  test("a cut still shows the newest unit, where there is room for it", () => {
    const made = { turns: [turn(1, "12345", "12345"), turn(2, "1234567", "12345678")], ...budgeted(17) };
    expect(shownIds(tokenWindow({ cutTo: 0.5 }), made)).toEqual(["2.0", "2.1"]);
    expect(shownIds(tokenWindow({ cutTo: 0.5 }), { ...made, ...budgeted(16) })).toEqual([]);
  });

  test("grows back when the room does", () => {
    const made = { turns: Array.from({ length: 10 }, (_, index) => turn(index + 1, "1234", "5678")) };
    const policy = tokenWindow({ cutTo: 0.5 });
    const pressed = decide(policy, { ...made, ...budgeted(60) });
    expect(pressed.from).toEqual({ turn: 8, unit: 0 });
    const later = { ...made, lastCut: cutOf(pressed) };
    expect(decide(policy, { ...later, ...budgeted(64) }).from).toEqual({ turn: 8, unit: 0 });
    expect(decide(policy, { ...later, ...budgeted(80) }).from).toEqual({ turn: 7, unit: 0 });
    expect(decide(policy, { ...later, ...budgeted(100) }).from).toBeNull();
  });
});

describe("tokenWindow in a machine", () => {
  /** Without the machine's own way of finding the newest units. */
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

describe("what tokenWindow costs", () => {
  const made: MadeUp = {
    turns: Array.from({ length: 5_000 }, (_, index) => turn(index + 1, "1234", "5678")),
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

/** A prompt template of speakers, counted by the blanks between words, as a whole. */
const templated: Counter = {
  name: "templated",
  version: 1,
  options: {},
  perMessage: 0,
  perPrompt: 0,
  countPart: (part) => ("text" in part ? part.text.split(/\s+/u).length : 0),
  countPrompt: (messages) => {
    const said = messages.filter(({ role }) => role === "user" || role === "assistant");
    const lines = said.map((message) => `${message.role === "user" ? "Child" : "Teacher"} : ${textOf(message)}\n\n`);
    const system = messages.filter(({ role }) => role === "system").map(textOf);
    const prompt = `[INST] <<SYS>>${system.join("")}<</SYS>>\n\n${lines.join("")} [/INST]\n\nTeacher : `;
    return prompt.split(/\s+/u).filter((word) => word !== "").length;
  },
};
