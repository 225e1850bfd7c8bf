import { eventArbitrary, journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import { differenceOf } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Entry,
  type FirstEntry,
  type LaterEntry,
  messagesOf,
  outstanding,
  promptOf,
  turnsOf,
} from "../../src/index.ts";
import { fold, stateAt } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";

const first: FirstEntry = { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "t" } };
const named = (seq: number): LaterEntry => ({ seq, event: { type: "checkpoint.named", at: seq, name: `c${seq}` } });

test.each<readonly [string, readonly Entry[], number, RegExp]>([
  ["an empty one", [], 0, /empty/],
  ["one without its beginning", [named(1)], 0, /thread\.started/],
  ["one with a gap", [first, named(1), named(3)], 2, /entry 3 stands where 2 should/],
  ["one with a repetition", [first, named(1), named(1)], 2, /entry 1 stands where 2 should/],
  ["one out of order", [first, named(2), named(1)], 1, /entry 2 stands where 1 should/],
  ["one with two beginnings", [first, first], 1, /second beginning/],
  [
    "one whose seed is not a conversation",
    [{ ...first, event: { ...first.event, seed: [{ role: "tool", toolCallId: "x", content: "" }] } }],
    0,
    /seed.*"x"/,
  ],
])("an invalid journal is refused, with the seq and the reason: %s", (_, journal, seq, words) => {
  const folded = fold(journal);
  if (Either.isRight(folded)) throw new Error("it was folded");
  expect(folded.left.seq).toBe(seq);
  expect(folded.left.reason).toMatch(words);
});

/** Draws journals with entries in impossible places, and with decisions that may not fit them. */
const strangeJournals: fc.Arbitrary<readonly Entry[]> = fc
  .tuple(
    journalArbitrary(),
    fc.array(
      fc.record({
        at: fc.nat(),
        event: eventArbitrary({
          effectIds: ["t/1.1#1", "t/1.1.0#1", "t/1.1#2!retry", "t/1!deadline", "t/2.1#1"],
          askIds: ["a", "b"],
        }),
        decided: fc.record(
          {
            queued: fc.nat({ max: 3 }),
            deadlineAt: fc.nat(),
            retry: fc.record({ attempt: fc.nat({ max: 4 }), dueAt: fc.nat() }, { noNullPrototype: true }),
            kept: fc.nat({ max: 9 }),
            limit: fc.constant({ limit: "steps", allowed: 1, reached: 2 } as const),
            results: fc.array(
              fc.record(
                {
                  position: fc.nat({ max: 5 }),
                  outcome: fc.constantFrom("failed", "refused"),
                  content: fc.constant([]),
                },
                { noNullPrototype: true },
              ),
            ),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
      }),
      { maxLength: 20 },
    ),
  )
  .map(([journal, strange]) => {
    const [beginning = first, ...rest] = journal;
    const entries: object[] = [...rest];
    for (const { at, ...entry } of strange) entries.splice(at % (entries.length + 1), 0, entry);
    // Only later entries, renumbered; the first stays unchanged.
    return [beginning, ...entries.map((entry, index) => ({ ...entry, seq: index + 1 }) as LaterEntry)];
  });

test("a journal that was copied under another thread id folds to the same conversation, under that id", () => {
  const copies = (journal: readonly Entry[]) => {
    const renamed = journal.map((entry): Entry =>
      entry.event.type === "thread.started" ? { ...first, event: { ...entry.event, threadId: "the/copy" } } : entry,
    );
    const [original, copy] = [fold(journal), fold(renamed)];
    if (Either.isLeft(original) || Either.isLeft(copy)) throw new Error("it was refused");
    const { threadId: _, ...data } = original.right.context;
    const { threadId, ...copied } = copy.right.context;
    expect(threadId).toBe("the/copy");
    expect(differenceOf(data, copied)).toBeNull();
  };
  fc.assert(fc.property(journalArbitrary(), copies), { numRuns: runs(60) });
});

describe("a journal that can be read, and that no machine can have written", () => {
  test("folds to a plain and readable state, from which a machine can continue", () => {
    const machine = conversationMachine();
    const folds = (journal: readonly Entry[]) => {
      const folded = fold(journal);
      if (Either.isLeft(folded)) return;
      expect(differenceOf(folded.right, JSON.parse(JSON.stringify(folded.right)))).toBeNull();
      outstanding(folded.right);
      messagesOf(folded.right);
      turnsOf(folded.right);
      promptOf(machine, folded.right);
    };
    fc.assert(fc.property(strangeJournals, folds), { numRuns: runs(200) });
  });

  test.each([{ checkpoint: "constructor" }, { checkpoint: "__proto__" }, { checkpoint: "nowhere" }, 1, 7])(
    "a head does not move to %j, where no turn is",
    (to) => {
      const folded = fold([first, { seq: 1, event: { type: "head.moved", at: 1, to } }]);
      expect(folded).toMatchObject({ right: { context: { seq: 1, conversation: { head: 0 } } } });
    },
  );
});
test("an entry whose decision is missing changes nothing: a deadline without its limit ends no turn", () => {
  const talk = new CheckedTalk({ limits: { deadlineMs: 5 } });
  talk.ask("One");
  const [beginning = first, asked] = talk.entries;
  if (asked === undefined) throw new Error("nothing was asked");
  const folded = fold([beginning, asked, { seq: 2, event: { type: "timer.fired", at: 9, effectId: "t/1!deadline" } }]);
  expect(folded).toMatchObject({ right: { context: { seq: 2, open: { number: 1, deadlineAt: 6 } } } });
});

describe("the state at an entry", () => {
  test.each([
    [-1, "there is no entry -1: there are 0 to 0"],
    [1, "there is no entry 1: there are 0 to 0"],
    [0.5, "there is no entry 0.5: there are 0 to 0"],
  ])("%s is refused if it does not exist", (seq, reason) => {
    expect(stateAt(new CheckedTalk().entries, seq)).toEqual(Either.left({ seq, reason }));
    expect(stateAt([], 0)).toEqual(Either.left({ seq: 0, reason: "there is no entry 0: the journal is empty" }));
  });
});
