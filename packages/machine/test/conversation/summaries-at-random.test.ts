import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastTurnOf, turnsOf } from "../../src/index.ts";
import { compactTurns, summariseTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";

// For any behaviour of a summariser, and any move of the head meanwhile: answers come, and every prompt fits.

const available = 1_000;

type Move =
  | { readonly type: "ask"; readonly asked: number; readonly answered: number; readonly result: number | null }
  | { readonly type: "summary"; readonly length: number | null }
  | { readonly type: "undo"; readonly turns: number };

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant("ask" as const),
        asked: fc.integer({ min: 1, max: 150 }),
        answered: fc.nat({ max: 300 }),
        result: fc.option(fc.nat({ max: 300 })),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ type: fc.constant("summary" as const), length: fc.option(fc.nat({ max: 120 })) }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("undo" as const), turns: fc.nat({ max: 4 }) }) },
  ),
  { minLength: 10, maxLength: 30 },
);

/** Ends the wait for a summary, in vain where it never comes. */
const settle = (talk: CheckedTalk, length: number | null): void => {
  if (length === null) talk.failSummary();
  else talk.summarise("s".repeat(length));
};

/** A call that may have to wait first, for one summary after the other, and what it was sent. */
const awaitCall = (talk: CheckedTalk, length: number | null): void => {
  for (let waits = 0; waits < 20 && !talk.isCalling(); waits++) settle(talk, length);
  expect(talk.sent().join("").length).toBeLessThanOrEqual(available);
};

const play = (talk: CheckedTalk, move: Move): void => {
  if (move.type === "summary") {
    if (talk.isSummarising()) settle(talk, move.length);
    return;
  }
  if (move.type === "undo") {
    talk.tell({ type: "head.moved", to: turnsOf(talk.state).at(-1 - move.turns)?.number ?? 0 });
    return;
  }
  const length = move.answered % 2 === 0 ? null : move.answered % 120;
  talk.ask("q".repeat(move.asked));
  awaitCall(talk, length);
  if (move.result !== null) {
    talk.reply(calling("search"));
    talk.result(0, "r".repeat(move.result));
    awaitCall(talk, length);
  }
  expect(talk.sent()).toContain("q".repeat(move.asked));
  talk.reply("a".repeat(move.answered));
  expect(lastTurnOf(talk.state)?.outcome.status).toBe("completed");
};

describe.each([
  ["compactTurns", compactTurns({ keepTurns: 2, maxTokens: 100, instruction: "I" })],
  ["summariseTurns", summariseTurns({ maxTurns: 5, keepTurns: 1, maxTokens: 100, instruction: "I" })],
])("%s", (_, policy) => {
  test("answers every ask with a prompt that fits, and the journal replays", () => {
    const answers = (made: readonly Move[]) => {
      const budget = { tokens: available + 50, reserve: 50 };
      const talk = new CheckedTalk({ policy, counter: characterCounter, budget, tools: [{ name: "search" }] });
      for (const move of made) play(talk, move);
      talk.replays();
    };
    fc.assert(fc.property(moves, answers), { numRuns: runs(10) });
  });
});
