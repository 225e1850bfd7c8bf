import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigurationError, conversationMachine, promptOf, textOf } from "../../../src/index.ts";
import { checkPrompt, lastMessages, type LastMessagesOptions, type PolicyDecision } from "../../../src/policies.ts";
import { runs } from "../../runs.ts";
import { calling, Talk } from "../../talk.ts";
import { decide, expectIdempotent, expectMonotone, expectWellFormed, idsOf, shownIds } from "./decision-laws.ts";
import { madeUpArbitrary } from "./made-up-arbitrary.ts";
import { closedUnits, cutOf, inputOf, type MadeUp, messagesOf, shownBy, turn } from "./made-up-history.ts";

const startsOf = (made: MadeUp): readonly PolicyDecision["from"][] => [
  null,
  ...closedUnits(made).map((unit) => ({ turn: unit.turn, unit: unit.position })),
  { turn: 1_000, unit: 0 },
];

/** The plain way: by counting the messages from each start on, with the question that leads them, the system message aside. */
const plainly = (made: MadeUp, max: number, keepRecent: number, lastCut: number): Pick<PolicyDecision, "from"> => {
  const starts = startsOf(made);
  const counts = starts.map((from) => {
    const unpinned = { ...made, system: null, pins: [] };
    // Pins add nothing to what counts, but where something pinned stands before a window no other question has to lead it.
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

  test.each([1, 2, 3])(
    "of 51 messages the last 10 stay, and of a round of %d calls that they begin in none",
    (calls) => {
      // Rounds that stand where the cut falls: whatever is cut, no result is without its call, and no call without its result.
      for (let offset = 0; offset <= calls + 1; offset++) {
        const talk = new Talk(conversationMachine({ policy: lastMessages(), tools: [{ name: "look" }] }));
        const count = () => promptOf(talk.machine, talk.state).messages.length;
        for (let said = 0; said < 39 - calls + offset; said++) append(talk);
        talk.ask("Look");
        talk.reply(calling(...Array.from({ length: calls }, () => "look")));
        for (let position = 0; position < calls; position++) talk.result(position, "found");
        talk.reply("Seen");
        while (count() < 50) append(talk);
        expect(count()).toBe(50);
        append(talk);
        const { messages } = promptOf(talk.machine, talk.state);
        expect(checkPrompt(messages)).toBeNull();
        expect(messages.length).toBeLessThanOrEqual(10);
        expect(messages.length).toBeGreaterThanOrEqual(10 - calls);
      }
    },
  );

  test.each<readonly [number, string | undefined, readonly string[]]>([
    [2, "prompt", ["prompt", "Second", "Reply 2"]],
    [0, "prompt", ["prompt"]],
    [0, undefined, []],
  ])("%d messages of four, with system prompt %j", (max, system, expected) => {
    const talk = new Talk(
      conversationMachine({ policy: lastMessages({ max }) }),
      system === undefined ? {} : { system },
    );
    talk.ask("First");
    talk.reply("Reply 1");
    talk.ask("Second");
    talk.reply("Reply 2");
    expect(promptOf(talk.machine, talk.state).messages.map(textOf)).toEqual(expected);
  });

  test("the open turn is whole however long it is, and counts", () => {
    const made = { turns: [turn(1, "a", "b")], open: messagesOf(2, ["c", ["1", "2"], ["3"], "d"]) };
    expect(shownIds(lastMessages({ max: 3 }), made)).toEqual(made.open.map(({ id }) => id));
    expect(shownIds(lastMessages({ max: 8, keepRecent: 8 }), made)[0]).toBe("2.0");
    expect(shownIds(lastMessages({ max: 9, keepRecent: 9 }), made)[0]).toBe("1.0");
  });

  test("what was cut away stays away until the head is moved behind it", () => {
    const turns = Array.from({ length: 6 }, (_, index) => turn(index + 1, "a", "b"));
    const policy = lastMessages({ max: 11, keepRecent: 4 });
    const lastCut = cutOf(decide(policy, { turns }));
    expect(lastCut.from).toEqual({ turn: 5, unit: 0 });
    expect(shownIds(policy, { turns: [...turns, turn(7, "a", "b")], lastCut })).toHaveLength(6);
    expect(shownIds(policy, { turns: turns.slice(0, 4), lastCut })).toHaveLength(8);
  });

  test("without keepSystem, the system message goes with what is cut", () => {
    const made = { system: messagesOf(0, ["s"])[0] ?? null, turns: [turn(1, "a", "b")] };
    const policy = lastMessages({ max: 2, keepRecent: 1, keepSystem: false });
    expect(shownIds(policy, made)).toEqual(["0.0", "1.0", "1.1"]);
    expect(shownIds(policy, { ...made, open: messagesOf(2, ["c"]) })).toEqual(["2.0"]);
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
  ])("%j can't be meant", (options, word) => {
    expect(() => lastMessages(options)).toThrow(ConfigurationError);
    expect(() => lastMessages(options)).toThrow(word);
  });

  test("fewer than the usual ten are kept where fewer may be shown", () => {
    expect(lastMessages({ max: 4 }).options).toEqual({ max: 4, keepRecent: 4, keepSystem: true });
  });
});

const append = (talk: Talk): void => {
  talk.tell({ type: "turn.added", messages: [{ role: "user", content: "more" }] });
};
