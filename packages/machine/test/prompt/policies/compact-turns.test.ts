import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, conversationMachine, type MessageDraft, textOf } from "../../../src/index.ts";
import { countPrompt, type PolicyDecision } from "../../../src/policies.ts";
import { compactTurns, type CompactTurnsOptions } from "../../../src/prompt/policies/compact-turns.ts";
import { fits } from "../../../src/prompt/policies/fits.ts";
import { CheckedTalk } from "../../checked-talk.ts";
import { runs } from "../../runs.ts";
import { decidesAgain, budgetedArbitrary } from "./budgeted-arbitrary.ts";
import { characters, inputOf, type MadeUp, type MadeUpTurn, said, shownBy, turn } from "./made-up-history.ts";

/** Returns turns of a hundred characters each, besides a few for their messages. */
const turns = (count: number, first = 1): readonly MadeUpTurn[] =>
  Array.from({ length: count }, (_, index) => turn(first + index, "q".repeat(50), "a".repeat(50)));

const rolled = (made: MadeUpTurn, from: number, text = "what was said"): MadeUpTurn => ({
  ...made,
  summaries: [...(made.summaries ?? []), { number: 1, from, text }],
});

/** Returns turns `1` to `count`, summarised up to `upTo`. */
const compacted = (count: number, upTo: number, text?: string): readonly MadeUpTurn[] =>
  turns(count).map((one) => (one.number === upTo ? rolled(one, 1, text) : one));

const room = (tokens: number) => ({ budget: { tokens, reserve: 0 } });

const next = (made: MadeUp, options: CompactTurnsOptions = {}) =>
  compactTurns({ instruction: "I", maxTokens: 40, ...options }).summariser?.next(inputOf(made)) ?? null;

const shown = (made: MadeUp, options: CompactTurnsOptions = {}): readonly string[] =>
  shownBy(made, compactTurns({ instruction: "I", maxTokens: 40, ...options }).decide(inputOf(made))).map(textOf);

const tokensOf = (made: MadeUp, decision: Omit<PolicyDecision, "reason">): number =>
  countPrompt(made.counter ?? characters, shownBy(made, decision));

describe("when a summary is wanted", () => {
  test("from a share of the room on, of all turns but those that are kept", () => {
    const made = { turns: turns(6), ...room(750) };
    expect(next(made)).toEqual({ covers: { from: 1, to: 2 }, earlier: null });
    expect(next({ ...made, ...room(770) })).toBeNull();
    expect(next({ ...made, ...room(1_224) }, { at: 0.5 })).toBeNull();
    expect(next({ ...made, ...room(1_223) }, { at: 0.5 })).not.toBeNull();
    expect(next(made, { keepTurns: 6 })).toBeNull();
    expect(next(made, { keepTurns: 0 })?.covers).toEqual({ from: 1, to: 4 });
    expect(next({ ...made, ...room(100_000) }, { at: 0, keepTurns: 0 })?.covers).toEqual({ from: 1, to: 6 });
    expect(next({ turns: turns(6) })).toBeNull();
  });

  test("fewer turns are kept, down to none, if the prompt does not fit", () => {
    expect(next({ turns: turns(4), ...room(400) })?.covers).toEqual({ from: 1, to: 1 });
    expect(next({ turns: turns(4), ...room(200) })?.covers.to).toBe(1);
    expect(next({ turns: turns(1), ...room(90) })?.covers).toEqual({ from: 1, to: 1 });
    const seeded = { seed: turn(0, "s".repeat(50)).messages, turns: turns(2), ...room(200) };
    expect(next(seeded)?.covers).toEqual({ from: 0, to: 1 });
    expect(next({ seed: turn(0, "s".repeat(500)).messages, ...room(200) })).toBeNull();
  });

  test("exactly as many are kept as fit beside the fixed units and a summary", () => {
    const covered = (count: number, tokens: number, fixed = 0): number | undefined =>
      next(
        {
          turns: turns(count),
          open: fixed === 0 ? [] : [said("99.0", "user", "x".repeat(fixed - 1))],
          ...room(tokens),
        },
        { keepTurns: 7 },
      )?.covers.to;
    // Six turns take 612, and a summary takes 40.
    expect([covered(8, 652), covered(8, 651)]).toEqual([2, 3]);
    expect([covered(8, 752, 100), covered(8, 751, 100)]).toEqual([2, 3]);
  });

  test("at least one is summarised if the prompt does not fit, for example after a summary that was too long", () => {
    expect(next({ turns: compacted(4, 1, "s".repeat(300)), ...room(400) })?.covers).toEqual({ from: 1, to: 2 });
  });

  test("no more than a model can read at once; a turn that is too long is read alone", () => {
    const made = { turns: turns(30), ...room(1_000) };
    // Each takes 162 with its headings, the instruction and two messages take 3, the summary 40.
    expect(next(made)?.covers).toEqual({ from: 1, to: 5 });
    expect([1_015, 1_014].map((tokens) => next({ ...made, ...room(tokens) })?.covers.to)).toEqual([6, 5]);
    const afterLongNotes = { turns: compacted(8, 2, "s".repeat(300)), ...room(1_000) };
    expect(next(afterLongNotes, { keepTurns: 0 })?.covers.to).toBe(5);
    const long = [turn(1, "q".repeat(5_000)), ...turns(10, 2)];
    expect(next({ turns: long, ...room(1_000) })?.covers).toEqual({ from: 1, to: 1 });
  });

  test("the request counts the counter's tokens for a prompt and for its two messages", () => {
    const counter = { ...characters, perMessage: 3, perPrompt: 10 };
    // Each turn takes 166 with its headings. The prompt, the instruction, its two messages and the summary take 57.
    const upTo = (tokens: number) => next({ turns: turns(30), counter, ...room(tokens) })?.covers.to;
    expect([upTo(6 * 166 + 57), upTo(6 * 166 + 56)]).toEqual([6, 5]);
  });

  test("one that failed is tried half as long, and after two failures again every few turns", () => {
    const failing = (failures: { readonly [turn: number]: number }, count = 11): MadeUp => ({
      turns: turns(count).map((one) => ({ ...one, summaryFailures: failures[one.number] ?? 0 })),
      ...room(1_250),
    });
    expect(next(failing({}))?.covers.to).toBe(7);
    expect(next(failing({ 7: 1 }))?.covers.to).toBe(3);
    expect(next(failing({ 7: 1, 3: 1 }))?.covers.to).toBe(1);
    expect(next(failing({ 7: 2, 3: 1, 1: 1 }))).toBeNull();
    expect(next(failing({ 7: 2, 3: 1, 1: 1 }, 13))?.covers.to).toBe(3);
  });

  test("it is a range of the path, never a turn that is kept, and never one that is covered twice", () => {
    const wants = (made: MadeUp, keepTurns: number, at: number, upTo: number) => {
      const numbers = (made.turns ?? []).map(({ number }) => number);
      const covered = numbers[upTo];
      const oldest = (made.seed ?? []).length > 0 ? 0 : (numbers[0] ?? 0);
      const now = (made.turns ?? []).map((one) => (one.number === covered ? rolled(one, oldest) : one));
      const bound = { ...made, turns: now };
      const wanted = next(bound, { keepTurns, at });
      if (wanted === null) return;
      expect(wanted.covers.from).toBe(oldest);
      expect(numbers).toContain(wanted.covers.to);
      expect(wanted.earlier).toEqual(covered === undefined ? null : { from: oldest, to: covered });
      expect(wanted.covers.to).toBeGreaterThan(covered ?? 0);
      const whole = compactTurns({ instruction: "I", maxTokens: 40 }).decide(inputOf({ ...bound, budget: null }));
      const tokens = tokensOf(bound, whole);
      expect(tokens).toBeGreaterThan(at * (made.budget?.tokens ?? 0));
      const kept = numbers.filter((number) => number > wanted.covers.to).length;
      expect(tokens > (made.budget?.tokens ?? 0) || kept >= keepTurns).toBe(true);
    };
    const upTo = fc.nat({ max: 9 });
    fc.assert(fc.property(budgetedArbitrary, fc.nat({ max: 4 }), fc.constantFrom(0, 0.5, 0.8, 1), upTo, wants), {
      numRuns: runs(300),
    });
  });
});

describe("the shown turns and summaries", () => {
  const open = [said("10.0", "user", "Now?")];

  test("summaries of single turns, written for another policy, do not hide whole turns", () => {
    const single = turns(3).map((one) => rolled(one, one.number));
    expect(shown({ turns: single, open })).toEqual([
      "Earlier in this conversation:\n[Turn 1] what was said",
      ...Array.from({ length: 2 }, () => ["q".repeat(50), "a".repeat(50)]).flat(),
      "Now?",
    ]);
  });

  test("it fits, or shows no closed turn; and it shows everything if everything fits", () => {
    const fits = (made: MadeUp, upTo: number, text: string) => {
      const numbers = (made.turns ?? []).map(({ number }) => number);
      const now = (made.turns ?? []).map((one, index) => (index === upTo ? rolled(one, numbers[0] ?? 0, text) : one));
      const bound = { ...made, turns: now, withoutSummary: true };
      const decision = compactTurns().decide(inputOf(bound));
      const whole = compactTurns().decide(inputOf({ ...bound, budget: null }));
      const available = made.budget?.tokens ?? 0;
      const wholeFits = tokensOf(bound, whole) <= available;
      const nothing = tokensOf(bound, { from: { turn: Number.MAX_SAFE_INTEGER, unit: 0 } });
      const tokens = tokensOf(bound, decision);
      expect(tokens <= available || tokens === nothing).toBe(true);
      expect(decision.pressed === true).toBe(!wholeFits);
      const { from, summarised } = wholeFits ? whole : decision;
      expect(decision).toMatchObject({ from, ...(summarised === undefined ? {} : { summarised }) });
    };
    const text = fc.nat({ max: 500 }).map((length) => "s".repeat(length));
    fc.assert(fc.property(budgetedArbitrary, fc.nat({ max: 9 }), text, fits), { numRuns: runs(400) });
  });

  test("compactTurns lets a call wait for a summary only if the prompt fits with that summary", () => {
    // The summary covers two turns and takes 40 tokens. The other four turns take 408.
    const decide = (tokens: number, more: Partial<MadeUp> = {}) =>
      compactTurns({ keepTurns: 0, maxTokens: 40, instruction: "I" }).decide(
        inputOf({ turns: turns(6), ...room(tokens), ...more }),
      );
    expect(decide(448)).toEqual({ from: null, reason: "nothing is summarised yet" });
    expect(decide(447)).toMatchObject({ from: { turn: 3, unit: 0 }, pressed: true });
    expect(decide(448, { withoutSummary: true })).toMatchObject({ from: { turn: 3, unit: 0 }, pressed: true });
  });

  test("compactTurns expects a summary of a quarter of the room if maxTokens is more", () => {
    const decide = (tokens: number) =>
      compactTurns({ keepTurns: 0, maxTokens: 1_000, instruction: "I" }).decide(
        inputOf({ turns: turns(6), ...room(tokens) }),
      );
    // The summary covers two turns and takes 136 tokens. The other four turns take 408.
    expect(decide(544)).toEqual({ from: null, reason: "nothing is summarised yet" });
    expect(decide(543)).toMatchObject({ pressed: true });
  });

  test("asked again after its own cut, it decides the same", () => {
    const same = (made: MadeUp, withoutSummary: boolean) => {
      const [first, again] = decidesAgain(compactTurns({ keepTurns: 1 }), { ...made, withoutSummary });
      expect(again).toEqual(first);
    };
    fc.assert(fc.property(budgetedArbitrary, fc.boolean(), same), { numRuns: runs(100) });
  });

  test("looks at the turns since the summary, not at those before", () => {
    const looked = { turns: 0, units: 0, measured: 0 };
    compactTurns().decide(inputOf({ turns: compacted(1_000, 990), ...room(5_000) }, looked));
    expect(looked.turns).toBeLessThan(20);
  });

  test.each([
    [815, { turns: 8, units: 0, measured: 1 }],
    [816, { turns: 16, units: 0, measured: 2 }],
    [5_000, { turns: 64, units: 0, measured: 4 }],
  ])("fits reads only the newest turns of a long thread that does not fit into %i tokens", (tokens, reads) => {
    const looked = { turns: 0, units: 0, measured: 0 };
    expect(fits(inputOf({ turns: turns(1_000), ...room(tokens) }, looked))).toBe(false);
    expect(looked).toEqual(reads);
  });

  test("compactTurns shows a summary, and as many of the newest turns as fit", () => {
    const machine = conversationMachine({
      policy: compactTurns({ keepTurns: 0, at: 0, maxTokens: 120, requestTokens: 9_999 }),
      counter: characters,
      budget: { tokens: 500, reserve: 0 },
    });
    const talk = new CheckedTalk(machine);
    talk.say("q".repeat(50), "a".repeat(50));
    talk.summarise("S".repeat(100));
    const messages: readonly MessageDraft[] = [
      { role: "user", content: "q".repeat(50) },
      { role: "assistant", content: "a".repeat(50) },
    ];
    for (let turn = 2; turn <= 8; turn++) talk.tell({ type: "turn.added", messages });
    talk.ask("Now?");
    // The question takes 5 tokens, the summary 140, and each turn 102.
    expect(talk.sent().map(({ length }) => length)).toEqual([139, 50, 50, 50, 50, 50, 50, 4]);
  });
});

describe("options", () => {
  test("are all in the fingerprint, the instruction too", () => {
    const { options, summariser, stable, monotone } = compactTurns();
    expect(options).toMatchObject({ keepTurns: 4, at: 0.8, level: "concise", maxTokens: 1_000, model: {} });
    expect(options["instruction"]).toBe(summariser?.instruction);
    expect(compactTurns({ level: "verbose" }).summariser?.instruction).not.toBe(summariser?.instruction);
    expect([stable, monotone, compactTurns({ at: 0 }).stable]).toEqual([true, false, false]);
  });

  test.each<readonly [CompactTurnsOptions, string]>([
    [{ keepTurns: -1 }, "compactTurns({ keepTurns }) is -1"],
    [{ at: 1.1 }, "compactTurns({ at }) is 1.1; it must be a share of the room, from 0 to 1"],
    [{ at: Number.NaN }, "is NaN"],
    [{ at: "0.5" as unknown as number }, 'compactTurns({ at }) is "0.5"'],
    [{ maxTokens: 0 }, "compactTurns({ maxTokens }) is 0"],
    // JavaScript may pass any word.
    [{ level: "medium" as "concise" }, 'it must be "verbose" or "concise"'],
  ])("refuses %o", (given, words) => {
    expect(() => compactTurns(given)).toThrow(ConfigurationError);
    expect(() => compactTurns(given)).toThrow(words);
  });
});
