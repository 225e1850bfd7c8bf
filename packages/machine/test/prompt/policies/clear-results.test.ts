import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, type Message } from "../../../src/index.ts";
import { countPrompt, type Unit } from "../../../src/policies.ts";
import { clearResults } from "../../../src/prompt/policies/clear-results.ts";
import { shrinkMessage } from "../../../src/prompt/shrink.ts";
import { runs } from "../../runs.ts";
import { decidesAgain, budgetedArbitrary, tokensOfAll } from "./budgeted-arbitrary.ts";
import { closedUnits, cutOf, inputOf, inSteps, type MadeUp, round, said, shownBy, turn } from "./made-up-history.ts";

const long = "x".repeat(1_000);

/** Returns a turn with `count` rounds, each with a long result. */
const rounds = (turn: number, count: number): readonly Message[] => [
  said(`${turn}.0`, "user", "Go on"),
  ...Array.from({ length: count }, (_, index) => round(`${turn}.${index + 1}`, "", [long])).flat(),
];

/** Returns the messages whose results are shown as marks. */
const clearedIn = (made: MadeUp, messages: readonly Message[]): readonly string[] => {
  const whole = new Map(shownBy(made, { from: null }).map((message) => [message.id, message]));
  return messages.filter((message) => message.digest !== whole.get(message.id)?.digest).map(({ id }) => id);
};

const decided = (made: MadeUp, policy = clearResults({ when: "always" })) =>
  clearedIn(made, shownBy(made, policy.decide(inputOf(made))));

const openUnitsOf = (made: MadeUp): readonly Unit[] => {
  const closed = new Set(closedUnits(made).map(({ id }) => id));
  return inputOf(made)
    .history.fixed()
    .filter(({ id }) => id !== "s1" && !closed.has(id));
};

/** Finds the rounds in a plain list. */
const naive = (made: MadeUp, keep: number): readonly Message[] => {
  const open = openUnitsOf(made);
  const all = [...closedUnits(made), ...open].filter(({ kind }) => kind === "round");
  const unseen = open.findLast(({ kind }) => kind === "round");
  const cleared = new Set(
    all
      .slice(0, Math.max(0, all.length - keep))
      .filter((unit) => unit !== unseen && unit.pinned !== true)
      .flatMap(({ messages }) => messages.map(({ id }) => id)),
  );
  const before = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };
  return shownBy(made, { from: null }).map((message) =>
    cleared.has(message.id)
      ? shrinkMessage(message, [{ rule: "clear", of: "toolResults", characters: 200, before }])
      : message,
  );
};

describe("clearResults", () => {
  test("shows marks for the results of all but the newest rounds, as a naive pass does", () => {
    const shows = (made: MadeUp, keep: number) => {
      const { decide } = clearResults({ keep, when: "always" });
      expect(shownBy(made, decide(inputOf(made)))).toEqual(naive(made, keep));
    };
    fc.assert(fc.property(budgetedArbitrary, fc.nat({ max: 4 }), shows), { numRuns: runs(300) });
  });

  test("pressed: only if the whole does not fit, with any counter", () => {
    const shows = (made: MadeUp, keep: number) => {
      const decision = clearResults({ keep }).decide(inputOf(made));
      const fits = tokensOfAll(made) <= (made.budget?.tokens ?? 0);
      expect(shownBy(made, decision)).toEqual(fits ? shownBy(made, { from: null }) : naive(made, keep));
      expect(decision.pressed === true).toBe(decision.shrink !== undefined);
      expect(fits && decision.pressed === true).toBe(false);
    };
    fc.assert(fc.property(budgetedArbitrary, fc.nat({ max: 4 }), shows), { numRuns: runs(300) });
  });

  test("asked again after its own cut, it decides the same", () => {
    const same = (made: MadeUp, keep: number, slack: number, when: "pressed" | "always") => {
      const [first, again] = decidesAgain(clearResults({ keep, slack, when }), made);
      expect(again).toEqual(first);
    };
    const options = [fc.nat({ max: 4 }), fc.nat({ max: 3 }), fc.constantFrom("pressed", "always")] as const;
    fc.assert(fc.property(budgetedArbitrary, ...options, same), { numRuns: runs(300) });
  });

  test("without a budget nothing presses, and `always` clears", () => {
    const made = { turns: [{ number: 1, messages: rounds(1, 5) }] };
    expect(decided(made, clearResults())).toEqual([]);
    expect(decided(made)).toEqual(["1.1.0", "1.2.0"]);
  });

  test("with slack the position moves only when more rounds than keep and slack stand; till then prompts only grow", () => {
    const moves = (keep: number, slack: number, total: number, perTurn: number) => {
      const { decide } = clearResults({ keep, slack, when: "always" });
      let lastCut = null;
      let cleared = 0;
      let clearedBefore = 0;
      let before: readonly string[] = [];
      for (let count = 0; count <= total; count++) {
        const turns = Array.from({ length: Math.floor(count / perTurn) }, (_, index) => ({
          number: index + 1,
          messages: rounds(index + 1, perTurn),
        }));
        const made: MadeUp = { turns, open: rounds(turns.length + 1, count % perTurn) };
        const decision = decide(inputOf({ ...made, lastCut }));
        const kept = Math.max(keep, count % perTurn > 0 ? 1 : 0);
        if (count - cleared > kept + slack) cleared = count - kept;
        const shown = shownBy(made, decision);
        expect(clearedIn(made, shown)).toHaveLength(cleared);
        const digests = shown.map(({ digest }) => digest);
        if (cleared !== clearedBefore) before = [];
        expect(digests.slice(0, before.length)).toEqual(before);
        [lastCut, clearedBefore, before] = [cutOf(decision), cleared, digests];
      }
    };
    const some = (min: number, max: number) => fc.integer({ min, max });
    fc.assert(fc.property(some(0, 3), some(0, 4), some(0, 20), some(1, 4), moves), { numRuns: runs(60) });
  });

  test("a cut that no longer covers the kept rounds is made again", () => {
    const policy = clearResults({ keep: 2, slack: 3, when: "always" });
    const sixRounds = {
      turns: [
        { number: 1, messages: rounds(1, 3) },
        { number: 2, messages: rounds(2, 3) },
      ],
    };
    const lastCut = cutOf(policy.decide(inputOf(sixRounds)));
    expect(lastCut.shrink?.[0]?.before).toEqual({ turn: 2, unit: 2 });
    const undone = { turns: sixRounds.turns.slice(0, 1), lastCut };
    expect(decided(undone, policy)).toEqual(["1.1.0"]);
  });

  test("says that nothing is cleared if a prompt that does not fit has no more rounds than are kept", () => {
    const made: MadeUp = { turns: [{ number: 1, messages: rounds(1, 2) }], budget: { tokens: 100, reserve: 0 } };
    const decision = clearResults({ keep: 2 }).decide(inputOf(made));
    expect(decision).toEqual({ from: null, reason: "no more than 2 rounds have results" });
  });

  test("a cut of all results stays as it is while no more rounds come", () => {
    const policy = clearResults({ keep: 0, slack: 1, when: "always" });
    const made = { turns: [{ number: 1, messages: rounds(1, 2) }] };
    const lastCut = cutOf(policy.decide(inputOf(made)));
    const talkedOn = { turns: [...made.turns, turn(2, "q", "a")], lastCut };
    expect(cutOf(policy.decide(inputOf(talkedOn)))).toEqual(lastCut);
  });

  test("pressed, slack does not keep a prompt from fitting", () => {
    const policy = clearResults({ keep: 1, slack: 5 });
    const at = (count: number, tokens: number): MadeUp => ({
      turns: [{ number: 1, messages: rounds(1, count) }],
      budget: { tokens, reserve: 0 },
    });
    const first = at(3, 2_000);
    expect(decided(first, policy)).toEqual(["1.1.0", "1.2.0"]);
    const lastCut = cutOf(policy.decide(inputOf(first)));
    expect(decided({ ...at(4, 3_000), lastCut }, policy)).toEqual(["1.1.0", "1.2.0"]);
    expect(decided({ ...at(4, 2_000), lastCut }, policy)).toEqual(["1.1.0", "1.2.0", "1.3.0"]);
  });

  test("does not search for rounds beyond the text of a full prompt", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    const talk = Array.from({ length: 2_000 }, (_, index) => turn(index + 2, "q".repeat(50), "a".repeat(50)));
    const made: MadeUp = {
      turns: [{ number: 1, messages: rounds(1, 9) }, ...talk],
      budget: { tokens: 2_000, reserve: 0 },
    };
    const policy = clearResults({ keep: 1, slack: 2 });
    expect(policy.decide(inputOf(made, looked)).shrink).toBeUndefined();
    expect(looked.units).toBeLessThan(70);
    const stays = { ...made, turns: [...talk, { number: 3_000, messages: rounds(3_000, 2) }] };
    const before = { turn: 3_000, unit: 1 };
    const lastCut = cutOf({
      from: null,
      shrink: [{ rule: "clear", of: "toolResults", characters: 200, before }],
      reason: "",
    });
    expect(policy.decide(inputOf({ ...stays, lastCut })).shrink?.[0]?.before).toEqual(before);
    const always = clearResults({ keep: 1, slack: 2, when: "always" });
    expect(always.decide(inputOf({ ...stays, lastCut })).shrink?.[0]?.before).toEqual(before);
  });

  test("a prompt that fits exactly fits", () => {
    const turns = Array.from({ length: 8 }, (_, index) => ({ number: index + 1, messages: rounds(index + 1, 1) }));
    const tokens = tokensOfAll({ turns });
    expect(decided({ turns, budget: { tokens, reserve: 0 } }, clearResults())).toEqual([]);
    expect(decided({ turns, budget: { tokens: tokens - 1, reserve: 0 } }, clearResults())).toHaveLength(5);
    const talk = Array.from({ length: 8 }, (_, index) => turn(index + 2, "q", "a"));
    const behindIt: MadeUp = {
      turns: [{ number: 1, messages: rounds(1, 2) }, ...talk],
      budget: { tokens: tokensOfAll({ turns: talk }), reserve: 0 },
    };
    expect(decided(behindIt, clearResults({ keep: 1 }))).toEqual(["1.1.0"]);
  });

  test("measures no more than a few windows of a long thread that does not fit", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    const turns = Array.from({ length: 2_000 }, (_, index) => ({ number: index + 1, messages: rounds(index + 1, 1) }));
    clearResults().decide(inputOf({ turns, counter: inSteps, budget: { tokens: 5_000, reserve: 0 } }, looked));
    expect(looked.turns).toBeLessThan(200);
    clearResults().decide(inputOf({ turns: turns.slice(0, 300), budget: { tokens: 1_000_000, reserve: 0 } }, looked));
    expect(looked.measured).toBeLessThan(20);
    expect(
      countPrompt(
        inSteps,
        turns.flatMap(({ messages }) => messages),
      ),
    ).toBeGreaterThan(100_000);
  });

  test.each([
    [{ keep: -1 }, "clearResults({ keep }) is -1"],
    [{ keep: 1.5 }, "1.5"],
    [{ slack: Number.NaN }, "clearResults({ slack }) is NaN"],
    // JavaScript may pass any word.
    [{ when: "sometimes" as "always" }, 'clearResults({ when }) is "sometimes"; it must be "pressed" or "always"'],
  ])("refuses %o", (options, words) => {
    expect(() => clearResults(options)).toThrow(ConfigurationError);
    expect(() => clearResults(options)).toThrow(words);
  });

  test("says what it is, and claims stability only with slack", () => {
    expect(clearResults().options).toEqual({ keep: 3, slack: 0, when: "pressed" });
    expect([clearResults().stable, clearResults({ slack: 1 }).stable]).toEqual([false, true]);
  });
});

test.each([
  [{}, false],
  [{ when: "always" }, true],
  [{ when: "always", slack: 1 }, false],
  [{ slack: 0, when: "pressed" }, false],
] as const)("with the options %j, clearResults declares that it is monotone: %s", (options, monotone) => {
  expect(clearResults(options).monotone).toBe(monotone);
});
