import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textOf } from "../../../src/index.ts";
import {
  compose,
  countPrompt,
  keepAll,
  type PolicyDecision,
  type PolicyInput,
  type Shrink,
  type UnitPosition,
} from "../../../src/policies.ts";
import { inputUnder } from "../../../src/prompt/policies/input-under.ts";
import { runs } from "../../runs.ts";
import { decide, idsOf, shownIds } from "./decision-laws.ts";
import { madeUpArbitrary } from "./made-up-arbitrary.ts";
import {
  characters,
  closedUnits,
  inputOf,
  inSteps,
  type MadeUp,
  said,
  shownBy,
  shownByAll,
  turn,
} from "./made-up-history.ts";
import { telling, watching } from "./made-up-policies.ts";
import { mergedDecision } from "../../../src/prompt/policies/merged-decision.ts";

/** Draws any decision of a policy on a conversation, without summaries. */
const decisionArbitrary = (made: MadeUp): fc.Arbitrary<Omit<PolicyDecision, "reason">> => {
  const units = closedUnits(made);
  const positions = units.map(({ turn, position }) => ({ turn, unit: position }));
  const before = fc.constantFrom({ turn: 3, unit: 1 }, { turn: 1_000, unit: 0 }, ...positions);
  const field = fc.subarray(["question", "context"]);
  return fc.record(
    {
      from: fc.constantFrom(null, ...positions),
      dropped: fc.subarray(units.map(({ id }) => id)),
      shrink: fc.array(
        fc.record({
          rule: fc.constantFrom("clear", "headAndTail"),
          of: fc.constantFrom("toolResults", "messages"),
          characters: fc.constantFrom(200, 250),
          before,
        }),
        { maxLength: 2 },
      ),
      fields: fc.record({ omit: field, inputs: field }, { requiredKeys: [] }),
      system: fc.constant("omit" as const),
      pressed: fc.boolean(),
    },
    { requiredKeys: ["from"] },
  );
};

const decided = madeUpArbitrary().chain((made) =>
  fc.record({ made: fc.constant(made), first: decisionArbitrary(made), second: decisionArbitrary(made) }),
);

describe("the input of a policy after those before it", () => {
  test("turns that are left whole are the very ones that there are", () => {
    const input = inputOf({ turns: [turn(1, "a", "b"), turn(2, "c", "d"), turn(3, "e", "f")] });
    const turns = [...input.history.newestFirst()];
    const history = { ...input.history, newestFirst: () => turns.values() };
    const left = inputUnder({ ...input, history }, { from: { turn: 2, unit: 0 } }).history.newestFirst();
    expect([...left].map((each) => turns.indexOf(each))).toEqual([0, 1]);
  });

  test.each<readonly [string, string, Omit<PolicyDecision, "reason">, string, readonly string[]]>([
    ["a dropped question with its answer", "q a", { from: null, dropped: ["1.0"] }, "1.0 1.1", []],
    ["no dropped question without an answer", "q a", { from: null, dropped: ["1.0", "1.1"] }, "", []],
    ["no dropped question after an instruction", "i q a", { from: null, dropped: ["1.1", "1.2"] }, "1.0", []],
    ["no pinned question before the cut", "q a a", { from: { turn: 1, unit: 2 }, dropped: ["1.2"] }, "", ["1.0"]],
  ])("shows a later policy %s: %s", (_, roles, decision, ids, pins) => {
    const named = { q: "user", a: "assistant", i: "system" } as const;
    const messages = roles.split(" ").map((role, at) => {
      if (role !== "q" && role !== "a" && role !== "i") throw new Error(`unknown role ${role}`);
      return said(`1.${at}`, named[role], "hello");
    });
    const { history } = inputUnder(inputOf({ turns: [{ number: 1, messages }], pins }), decision);
    const left = [...history.newestFirst()].flatMap((each) => each.units());
    expect(left.map(({ id }) => id).join(" ")).toBe(ids);
  });

  test.each<readonly [string, Omit<PolicyDecision, "reason">]>([
    ["shrinks the open turn", { from: null, shrink: [{ rule: "headAndTail", of: "messages", characters: 200 }] }],
    ["leaves out the system message", { from: null, system: "omit" }],
    ["shows turns as summaries", { from: { turn: 2, unit: 0 }, summarised: { from: 1, to: 1 } }],
    ["cuts turns off", { from: { turn: 2, unit: 0 } }],
  ])("counts as fixed only what is left by a policy that %s", (_, decision) => {
    const system = said("s1", "system", "Be brief.");
    const open = [said("2.0", "user", "long ".repeat(200))];
    const made = { system, turns: [turn(1, "a", "b")], open, isOpen: true };
    const shown = shownBy(made, { ...decision, from: { turn: 2, unit: 0 } });
    expect(inputUnder(inputOf(made), decision).history.fixedTokens()).toBe(countPrompt(characters, shown));
  });

  test("tells a later policy of each turn whether it was interrupted, and its summaries, as before", () => {
    const summaries = [{ number: 1, from: 1, text: "short" }];
    const turns = [
      { ...turn(1, "a", "b"), summaries, summaryFailures: 2 },
      { ...turn(2, "c", "d"), interrupted: true },
    ];
    const { history } = inputUnder(inputOf({ turns }), { from: null, dropped: ["1.1", "2.1"] });
    const told = [...history.newestFirst()].map(
      ({ number, interrupted, summaries: written, summaryFailures, length }) => [
        number,
        interrupted,
        written,
        summaryFailures,
        length,
      ],
    );
    expect(told).toEqual([
      [2, true, [], 0, 1],
      [1, false, summaries, 2, 1],
    ]);
  });

  test("shows a later policy the only message of the open turn as the earlier policy shortens it", () => {
    const open = [said("2.0", "user", "long ".repeat(100))];
    const input = inputOf({ turns: [turn(1, "a", "b")], open, isOpen: true });
    const shrink = [{ rule: "headAndTail", of: "messages", characters: 200 }] as const;
    const fixed = inputUnder(input, { from: null, shrink }).history.fixed();
    expect(fixed.flatMap(({ messages }) => messages.map((message) => textOf(message).length))).toEqual([200]);
  });

  test("shows a later policy a pinned message of the open turn whole, and the others as the earlier policy shortens them", () => {
    const long = "long ".repeat(100);
    const open = [said("2.0", "user", long), said("2.1", "user", long)];
    const input = inputOf({ turns: [turn(1, "a", "b")], open, isOpen: true, pins: ["2.1"] });
    const shrink = [{ rule: "headAndTail", of: "messages", characters: 200 }] as const;
    const fixed = inputUnder(input, { from: null, shrink }).history.fixed();
    expect(fixed.flatMap(({ messages }) => messages.map((message) => textOf(message).length))).toEqual([200, 500]);
  });

  test.each([characters, inSteps])("the messages that they show, and their tokens: $name", (counter) => {
    fc.assert(
      fc.property(decided, ({ made: given, first }) => {
        const made = { ...given, counter };
        const inputs: PolicyInput[] = [];
        decide(compose(telling(first), watching(inputs)), made);
        const { history, count } = inputs[0] ?? inputOf(made);
        const pinned = new Set(closedUnits(made).flatMap((unit) => (unit.pinned === true ? [unit.id] : [])));
        const shown = shownBy(made, first);
        const closed = new Set(closedUnits(made).flatMap((unit) => unit.messages.map(({ id }) => id)));
        const turns = [...history.newestFirst()].reverse();
        const units = turns.flatMap((turn) => turn.units());
        const unpinned = units.filter(({ id }) => !pinned.has(id)).flatMap(({ messages }) => messages);
        const expected = shown.filter(({ id }) => closed.has(id));
        expect(units.every((unit) => (unit.pinned === true) === pinned.has(unit.id))).toBe(true);
        expect(unpinned).toEqual(expected.filter(({ id }) => unpinned.some((message) => message.id === id)));
        // The question that leads the rest must not be of a turn that is otherwise hidden.
        const led = expected.filter(({ id }) => units.every(({ messages }) => messages.every((one) => one.id !== id)));
        const [lead] = led.filter(({ id }) => pinnedMessages(made).every((one) => one.id !== id));
        expect(expected.length - unpinned.length - (lead === undefined ? 0 : 1)).toBe(pinnedMessages(made).length);
        for (const turn of turns) {
          const own = turn.units().filter((unit) => unit.pinned !== true);
          expect(turn.tokens()).toBe(
            own.flatMap(({ messages }) => messages.map(count)).reduce((sum, one) => sum + one, 0),
          );
          expect(turn.length).toBe(turn.units().flatMap(({ messages }) => messages).length);
        }
        const least = shownBy(made, { ...first, from: { turn: 1_000, unit: 0 } });
        const fixed = least.filter(({ id }) => !closed.has(id) || pinnedMessages(made).some((one) => one.id === id));
        expect(history.fixed().flatMap(({ messages }) => messages)).toEqual(fixed);
        // The steps of a counter hide the tokens of a question.
        const canTell = counter === characters || fixed.length === least.length;
        const tokens = countPrompt(counter, fixed);
        expect(canTell ? history.fixedTokens() : tokens).toBe(tokens);
      }),
      { numRuns: runs(300) },
    );
  });

  test("a prompt is measured as both decisions give it, and shown as both do", () => {
    fc.assert(
      fc.property(decided, ({ made, first, second }) => {
        const inputs: PolicyInput[] = [];
        const policy = compose(telling(first), watching(inputs), telling(second));
        const both = shownIds(policy, made);
        const closed = new Set(closedUnits(made).flatMap(({ messages }) => messages.map(({ id }) => id)));
        const expected = shownByAll(made, [first, second]).flatMap(({ messages }) => messages.map(({ id }) => id));
        expect(both.filter((id) => closed.has(id))).toEqual(expected);
        const isOther = (id: string): boolean => !closed.has(id);
        const other = new Set(idsOf(made, second));
        expect(both.filter(isOther)).toEqual(idsOf(made, first).filter((id) => isOther(id) && other.has(id)));
        const { reason: _, ...merged } = decide(policy, made);
        expect(inputs[0]?.measure(second)).toBe(countPrompt(characters, shownBy(made, merged)));
      }),
      { numRuns: runs(300) },
    );
  });

  test("unchanged while nothing is decided", () => {
    const inputs: PolicyInput[] = [];
    const input = inputOf({ turns: [turn(1, "a", "b")] });
    compose(keepAll(), watching(inputs)).decide(input);
    expect(inputs).toEqual([input]);
    expect(inputs[0]?.history).toBe(input.history);
  });
});

const pinnedMessages = (made: MadeUp) =>
  closedUnits(made).flatMap((unit) => (unit.pinned === true ? unit.messages : []));

// If two policies shorten, no rule applies twice, and none is lost.

const rule = (more: Partial<Shrink> = {}): Shrink => ({
  rule: "reference",
  of: "messages",
  characters: 300,
  tool: "read",
  ...more,
});
const before = (turn: number, unit = 0): { readonly before: UnitPosition } => ({ before: { turn, unit } });

test.each<readonly [string, Shrink, Shrink, readonly Shrink[]]>([
  ["that are the same stand once", rule(), rule(), [rule()]],
  ["that reach less far add nothing", rule(), rule(before(3)), [rule()]],
  ["that reach as far add nothing", rule(before(3)), rule(before(3)), [rule(before(3))]],
  ["that reach further take the place", rule(before(3)), rule(before(4)), [rule(before(4))]],
  ["that reach everywhere take the place", rule(before(3)), rule(), [rule()]],
  ["of another tool stand beside", rule(), rule({ tool: "open" }), [rule(), rule({ tool: "open" })]],
  ["of another length stand beside", rule(), rule({ characters: 301 }), [rule(), rule({ characters: 301 })]],
  ["for other parts stand beside", rule(), rule({ of: "toolResults" }), [rule(), rule({ of: "toolResults" })]],
  ["of another kind stand beside", rule(), rule({ rule: "headAndTail" }), [rule(), rule({ rule: "headAndTail" })]],
])("rules of a second policy %s", (_, first, second, expected) => {
  expect(mergedDecision({ from: null, shrink: [first] }, { from: null, shrink: [second] }).shrink).toEqual(expected);
});
