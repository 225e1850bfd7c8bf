import { describe, expect, test } from "vitest";
import { ConfigurationError, conversationMachine, promptOf, textOf } from "../../../src/index.ts";
import {
  clearResults,
  compactTurns,
  compose,
  countPrompt,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  type PolicyDecision,
  type PolicyInput,
  type Shrink,
  tokenWindow,
  type UnitPosition,
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
  type MadeUp,
  round,
  said,
  shownBy,
  turn,
} from "./made-up-history.ts";
import { policyOf, telling } from "./made-up-policies.ts";

import fc from "fast-check";

describe("compose", () => {
  test("a window after a limit for results shows as many units as fit then", () => {
    const holds = (made: MadeUp, tokens: number) => {
      const policy = compose(limitResults({ characters: 200 }), tokenWindow());
      const within = { ...made, ...budgeted(tokens) };
      const shrink = decide(limitResults({ characters: 200 }), within).shrink ?? [];
      const units = closedUnits(within).map(({ turn, position }) => ({ turn, unit: position }));
      // A window may also begin at a turn without messages.
      const turns = (made.turns ?? []).map(({ number }) => ({ turn: number, unit: 0 }));
      const starts = [null, ...[...turns, ...units].toSorted((a, b) => a.turn - b.turn || a.unit - b.unit)];
      const fits = (from: PolicyDecision["from"]) =>
        countPrompt(characters, shownBy(within, { from, shrink })) <= tokens;
      const plain = starts.find(fits);
      const from = plain === undefined ? { turn: 1_000, unit: 0 } : plain;
      expect(shownIds(policy, within)).toEqual(idsOf(within, { from, shrink }));
    };
    fc.assert(fc.property(madeUpArbitrary(), fc.nat({ max: 1_500 }), holds), { numRuns: runs(300) });
  });

  test.each([
    ["of answers alone", [["assistant", "assistant"], ["assistant"], ["assistant", "assistant"]]],
    ["with a later question", [["assistant"], ["assistant", "user", "assistant"], ["assistant"]]],
    ["that end with a question", [["assistant", "user"], ["user", "assistant"], ["assistant"]]],
  ] as const)("tokenWindow after lastTurns leaves room for the question that precedes turns %s", (_, turns) => {
    const kept = turns.map((roles, index) => ({
      number: index + 2,
      messages: roles.map((role, at) => said(`${index + 2}.${at}`, role, "a".repeat((index + at * 2) % 4))),
    }));
    for (let tokens = 0; tokens < 50; tokens++) {
      const made = { turns: [turn(1, "q".repeat(20), "a"), ...kept], ...budgeted(tokens) };
      const starts = closedUnits(made).map(({ turn: number, position }) => ({ turn: number, unit: position }));
      const fits = (from: UnitPosition) => countPrompt(characters, shownBy(made, { from })) <= tokens;
      const from = starts.find((start) => start.turn > 1 && fits(start)) ?? { turn: 5, unit: 0 };
      const { from: decided } = decide(compose(lastTurns(3), tokenWindow()), made);
      expect(shownIds(compose(lastTurns(3), tokenWindow()), made)).toEqual(idsOf(made, { from }));
      expect(decided).toEqual(from);
    }
  });

  test("keeps the laws, as far as its parts declare them", () => {
    const parts: fc.Arbitrary<Policy> = fc.oneof(
      fc.constant(keepAll()),
      fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 2 })).map(([count, slack]) => lastTurns(count, { slack })),
      fc
        .tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 }))
        .map(([max, keep]) => lastMessages({ max: max + keep, keepRecent: keep })),
      fc
        .tuple(fc.constantFrom(0.3, 0.7, 1), fc.option(fc.nat({ max: 600 })))
        .map(([cutTo, tokens]) => tokenWindow({ cutTo, ...(tokens === null ? {} : { tokens }) })),
      fc.constantFrom(limitResults({ characters: 200 }), omitFields(["context"]), onlyInputs(["question"])),
      fc
        .record({ keep: fc.nat({ max: 2 }), slack: fc.nat({ max: 1 }), when: fc.constantFrom("always", "pressed") })
        .map(clearResults),
    );
    const policies = fc.array(parts, { maxLength: 4 });
    const nested = fc.tuple(policies, policies).map(([outer, inner]) => compose(...outer, compose(...inner)));
    const cases = madeUpArbitrary().chain((made) => lastCutArbitrary(made).map((lastCut) => ({ ...made, lastCut })));
    const holds = (policy: Policy, made: MadeUp, tokens: number, more: number) => {
      const within = { ...made, ...budgeted(tokens) };
      expectWellFormed(policy, within);
      expectIdempotent(policy, within);
      if (policy.monotone) expectMonotone(policy, made, tokens, more);
    };
    fc.assert(fc.property(nested, cases, fc.nat({ max: 900 }), fc.nat({ max: 300 }), holds), { numRuns: runs(500) });
  });

  test("drops the last cut if the prompt fits only without it", () => {
    const policies = fc
      .tuple(
        fc.record({ keep: fc.nat({ max: 2 }), slack: fc.integer({ min: 1, max: 4 }) }).map(clearResults),
        fc.oneof(
          fc.constant(tokenWindow()),
          fc.nat({ max: 5 }).map((count) => lastTurns(count)),
        ),
      )
      .map((parts) => compose(...parts));
    const rounds = (turn: number, count: number) => [
      said(`${turn}.0`, "user", "Go on"),
      ...Array.from({ length: count }, (_, index) => round(`${turn}.${index + 1}`, "", ["x".repeat(500)])).flat(),
    ];
    const holds = (policy: Policy, closed: number, before: number, since: number, tokens: number) => {
      const turns = Array.from({ length: closed }, (_, index) => ({
        number: index + 1,
        messages: rounds(index + 1, 2),
      }));
      const at = (count: number): MadeUp => ({ turns, open: rounds(closed + 1, count), ...budgeted(tokens) });
      const lastCut = cutOf(policy.decide(inputOf(at(before))));
      const fits = (made: MadeUp) => countPrompt(characters, shownBy(made, policy.decide(inputOf(made)))) <= tokens;
      expect(fits({ ...at(before + since), lastCut }) || !fits(at(before + since))).toBe(true);
    };
    const counts = [
      fc.nat({ max: 6 }),
      fc.nat({ max: 3 }),
      fc.nat({ max: 3 }),
      fc.integer({ min: 500, max: 6_000 }),
    ] as const;
    fc.assert(fc.property(policies, ...counts, holds), { numRuns: runs(1_000) });
  });

  test("claims only true properties: a deep cut shows less if a window before it lets more pass", () => {
    const made = { turns: Array.from({ length: 30 }, (_, index) => turn(index + 1, "1234", "5678")) };
    const policy = compose(tokenWindow(), tokenWindow({ tokens: 100, cutTo: 0.5 }));
    expect(shownIds(policy, { ...made, ...budgeted(90) })).toHaveLength(9 * 2);
    expect(shownIds(policy, { ...made, ...budgeted(200) })).toHaveLength(5 * 2);
    expect(policy.monotone).toBe(false);
    expect(compose(limitResults({ characters: 200 }), tokenWindow()).monotone).toBe(true);
  });

  test("of none shows everything", () => {
    expect(compose().decide(inputOf({ turns: [turn(1, "a")] }))).toEqual({ from: null, reason: "everything is kept" });
    expect(compose()).toMatchObject({
      name: "compose",
      version: 1,
      options: { policies: [] },
      monotone: true,
      stable: true,
    });
  });

  test("has the properties of its parts", () => {
    const policy = compose(lastTurns(3), compose(tokenWindow({ tokens: 9 })));
    expect(policy.options).toEqual({
      policies: [
        { name: "last-turns", version: 1, options: { count: 3 } },
        {
          name: "compose",
          version: 1,
          options: {
            policies: [{ name: "token-window", version: 1, options: { tokens: 9, reserve: 0, cutTo: 1 } }],
          },
        },
      ],
    });
    expect([policy.monotone, policy.stable]).toEqual([true, false]);
    expect(compose(keepAll(), lastTurns(1, { slack: 1 }))).toMatchObject({ monotone: false, stable: true });
  });

  test("gives the reasons of its cut and of its drops", () => {
    const made = { turns: [turn(1, "a"), turn(2, "b")] };
    const policy = compose(
      telling({ from: { turn: 2, unit: 0 }, pressed: true, reasons: { "1.0": "old" } }, "old"),
      keepAll(),
      telling({ from: null, dropped: ["2.0"], reasons: { "2.0": "dull", "1.0": "dull" } }, "dull"),
    );
    expect(decide(policy, made)).toEqual({
      from: { turn: 2, unit: 0 },
      dropped: ["2.0"],
      pressed: true,
      reason: "old",
      reasons: { "1.0": "old", "2.0": "dull" },
    });
  });

  test("gives each part's reason for leaving something out if none cuts", () => {
    const policy = compose(
      telling({ from: null, dropped: ["1.0"] }, "dull"),
      keepAll(),
      telling({ from: null, dropped: ["2.0"] }, "old"),
    );
    expect(decide(policy, { turns: [turn(1, "a"), turn(2, "b")] }).reason).toBe("dull; old");
  });

  test("gives parts before a summary the last cut without it, so that they don't take it for their own", () => {
    const turns = Array.from({ length: 4 }, (_, index) => turn(index + 1, "1234", "5678"));
    const summary = { number: 1, from: 1, text: "short" };
    const made = { turns: turns.map((one) => ({ ...one, summaries: one.number === 1 ? [summary] : [] })) };
    const policy = compose(lastTurns(3, { slack: 1 }), compactTurns({ keepTurns: 1 }));
    const within = { ...made, ...budgeted(200) };
    const first = decide(policy, within);
    expect(first).toMatchObject({ from: { turn: 2, unit: 0 }, summarised: { to: 1 } });
    expect(decide(policy, { ...within, lastCut: cutOf(first) })).toEqual(first);
  });

  test.each([
    [{ turn: 2, unit: 0 }, 2],
    [null, 0],
  ])("tells them that it began at %j where a summary began at turn %i", (from, first) => {
    const told: unknown[] = [];
    const asking = policyOf("asking", ({ lastCut }) => {
      told.push(lastCut?.from);
      return { from: null, reason: "" };
    });
    const lastCut = cutOf({ from: { turn: 3, unit: 0 }, summarised: { from: first, to: 2 }, reason: "" });
    decide(compose(asking, compactTurns()), { turns: [turn(3, "a")], lastCut });
    expect(told[0]).toEqual(from);
  });

  test("asks a policy again if it depends on the cut and the cut is new", () => {
    // After the last policy's cut, the first takes that for its own, and there is room for the results again.
    const policy = compose(lastTurns(1, { slack: 2 }), clearResults({ keep: 0 }), lastTurns(1, { slack: 1 }));
    const turns = [1, 2, 3].map((number) => turn(number, ["z".repeat(300)]));
    expect(decide(policy, { turns, ...budgeted(700) })).toEqual({
      from: { turn: 3, unit: 0 },
      reason: "older than the last 1 turns",
    });
  });

  test("asks a policy that uses the last cut again with the whole new cut", () => {
    const told: PolicyInput["lastCut"][] = [];
    const asking = policyOf("asking", ({ lastCut }) => {
      told.push(lastCut);
      return { from: null, reason: "" };
    });
    const clear = { rule: "clear", of: "toolResults", characters: 200, before: { turn: 2, unit: 0 } } as const;
    const shown = {
      from: { turn: 2, unit: 0 },
      dropped: ["2.0"],
      summarised: { from: 1, to: 1 },
      shrink: [clear],
      fields: { omit: ["context"] },
      system: "omit",
    } as const;
    decide(compose(telling(shown), asking), { turns: [turn(1, "a"), turn(2, "b", "c")] });
    expect(told).toEqual([
      null,
      {
        ...shown,
        policy: "compose@1",
        interrupted: "keep",
        summarised: { from: 1, to: 1, upTo: Number.MAX_SAFE_INTEGER },
      },
    ]);
  });

  test("shows a part the last cut that this part wrote into its input", () => {
    const forgetful = policyOf("forgetful", (input) => {
      Object.assign(input, { lastCut: null });
      return lastTurns(1, { slack: 3 }).decide(input);
    });
    const turns = [1, 2, 3, 4].map((number) => turn(number, "a", "b"));
    const lastCut = cutOf({ from: { turn: 2, unit: 0 }, reason: "" });
    expect(decide(compose(forgetful), { turns, lastCut }).from).toEqual(decide(forgetful, { turns }).from);
    expect(decide(compose(lastTurns(1, { slack: 3 })), { turns, lastCut }).from).toEqual(lastCut.from);
  });

  test.each<readonly [string, Partial<MadeUp>, number]>([
    ["the prompt does not fit with the last cut", budgeted(1), 2],
    ["there is no budget", {}, 1],
    ["the prompt fits", budgeted(1_000), 1],
    ["there is no last cut", { ...budgeted(1), lastCut: null }, 1],
  ])("if %s, asks a part that reads the last cut %j %i times", (_, more, times) => {
    let asked = 0;
    const reading = policyOf("reading", ({ lastCut }) => {
      asked++;
      return { from: lastCut?.from ?? null, reason: "" };
    });
    decide(compose(reading), { turns: [turn(1, "a", "b")], lastCut: cutOf({ from: null, reason: "" }), ...more });
    expect(asked).toBe(times);
  });

  test("keeps the last cut if the counter fails, also if no room is left", () => {
    const failing = { ...characters, countPrompt: () => Number.NaN };
    const lastCut = cutOf({ from: { turn: 2, unit: 0 }, reason: "" });
    const last: PolicyInput["lastCut"][] = [];
    const keeping = policyOf("keeping", (input) => {
      last.push(input.lastCut);
      return { from: input.lastCut?.from ?? null, reason: "" };
    });
    const made = { turns: [turn(1, "abc"), turn(2, "abc")], lastCut, counter: failing, ...budgeted(0) };
    expect(decide(compose(keeping), made).from).toEqual(lastCut.from);
    expect(last).toEqual([lastCut]);
  });

  test("keeps the last cut if the prompt does not fit without it either", () => {
    const keeping = policyOf("keeping", ({ lastCut }) => ({ from: lastCut?.from ?? null, reason: "" }));
    const lastCut = cutOf({ from: { turn: 2, unit: 0 }, reason: "" });
    const made = { turns: [turn(1, "abc"), turn(2, "abc")], lastCut };
    expect(decide(compose(keeping), { ...made, ...budgeted(1) }).from).toEqual(lastCut.from);
  });

  test("asks once if no part reads the last cut, and not for ever if the parts cannot agree", () => {
    let asked = 0;
    const counting = policyOf("counting", () => {
      asked++;
      return { from: { turn: 2, unit: 0 }, reason: "" };
    });
    const made = { turns: [turn(1, "a"), turn(2, "b"), turn(3, "c")] };
    decide(compose(counting, tokenWindow(), lastTurns(1)), made);
    expect(asked).toBe(1);
    decide(compose(counting), { ...made, ...budgeted(0), lastCut: cutOf({ from: null, reason: "" }) });
    expect(asked).toBe(2);
    const wavering = policyOf("wavering", ({ lastCut }) => ({
      from: { turn: lastCut?.from?.turn === 2 ? 3 : 2, unit: 0 },
      reason: "",
    }));
    decide(compose(counting, wavering), made);
    expect(asked).toBeLessThan(10);
  });
});

describe("compose of parts that can't be", () => {
  const summarising = (name: string, next: (input: PolicyInput) => null = () => null): Policy =>
    policyOf(name, () => ({ from: null, reason: "" }), {
      summariser: { instruction: "Be short.", model: {}, maxTokens: 9, next },
    });

  test("two that have summaries written are refused", () => {
    expect(() => compose(summarising("one"), keepAll(), compose(summarising("two")))).toThrow(ConfigurationError);
    expect(() => compose(summarising("one"), compose(summarising("two")))).toThrow('"one" and "two"');
  });

  test("one that has, is asked about the rest after those before it", () => {
    const asked: (readonly number[])[] = [];
    const next = ({ history }: PolicyInput): null => {
      asked.push([...history.newestFirst()].map(({ number }) => number));
      return null;
    };
    const { summariser } = compose(lastTurns(2), compose(keepAll(), summarising("one", next)), lastTurns(1));
    expect(summariser).toMatchObject({ instruction: "Be short.", model: {}, maxTokens: 9 });
    summariser?.next(inputOf({ turns: [turn(1, "a"), turn(2, "b"), turn(3, "c")] }));
    expect(asked).toEqual([[3, 2]]);
  });

  test.each<readonly [string, readonly unknown[], string]>([
    ["a list", [[keepAll()]], "compose: policy 0 is a list; give policies one by one, not as a list"],
    ["nothing", [keepAll(), undefined], "compose: policy 1 is undefined"],
    ["a function that makes one", [keepAll], "compose: policy 0 is a function; call it"],
    ["null", [null], "compose: policy 0 is null, which decides nothing"],
    ["its name", ["keepAll"], 'compose: policy 0 is "keepAll"'],
    ["one that can't decide", [{ ...keepAll(), decide: null }], 'compose: policy 0 is {"name":"keep-all"'],
  ])("%s is not a policy", (_, given, message) => {
    // Only JavaScript may pass these arguments.
    const make = () => compose(...(given as readonly Policy[]));
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });

  test("one without a name is refused", () => {
    expect(() => compose(keepAll(), policyOf("", keepAll().decide))).toThrow("policy 1 has no name");
    expect(() => compose(policyOf("", keepAll().decide), keepAll())).toThrow("policy 0 has no name");
  });

  test.each<readonly [string, Policy["decide"]]>([
    [
      "throws",
      () => {
        throw new Error("no decision today");
      },
    ],
    // Policies in JavaScript may return these.
    ["decides nothing", () => null as unknown as PolicyDecision],
    ["decides a list of letters", () => ({ from: null, dropped: "1.0" as unknown as readonly string[], reason: "" })],
    ["begins nowhere", () => ({ from: { turn: Number.NaN, unit: 0 }, reason: "" })],
    ["begins at a turn and no unit", () => ({ from: { turn: 1 } as unknown as UnitPosition, reason: "" })],
    ["shrinks by a word", () => ({ from: null, shrink: "all" as unknown as readonly Shrink[], reason: "" })],
  ])("one that %s is reported as it is alone, and everything is shown", (_, decide) => {
    const bad = policyOf("bad", decide);
    const under = (policy: Policy) => {
      const talk = new Talk(conversationMachine({ policy }));
      talk.ask("One");
      talk.reply("One!");
      talk.ask("Two");
      return promptOf(talk.machine, talk.state);
    };
    const { messages, failed } = under(compose(lastTurns(1), bad, lastTurns(0)));
    expect(messages.map(textOf)).toEqual(["One", "One!", "Two"]);
    expect(failed).toContain('"compose@1"');
    expect(failed?.replace("compose@1", "bad@1")).toBe(under(bad).failed);
  });
});
