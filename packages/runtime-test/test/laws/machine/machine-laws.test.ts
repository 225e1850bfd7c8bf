import { conversationMachine, type MachineOptions, promptOf } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { keepAll, lastTurns, summariseTurns } from "@colloquy/machine/policies";
import {
  entriesOf,
  handledSteps,
  type Move,
  type Play,
  playArbitrary,
  realSubject,
  runSchedule,
  scheduleFor,
  summarisingPolicyArbitraries,
} from "@colloquy/runtime-test/arbitraries";
import { checkMachineLaws, laws, unfrozenIn } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../runs.ts";

test.each(Object.entries(laws))("the laws of the machine, on any configuration and schedule %s holds", (_, law) => {
  fc.assert(
    fc.property(playArbitrary, ({ options, schedule }) => law(options, schedule)),
    { numRuns: runs(60) },
  );
});

/** Draws plays with constant summaries, for which some calls wait. */
const summarisingPlays = fc
  .record({
    policy: fc.oneof(...Object.values(summarisingPolicyArbitraries)),
    tokens: fc.integer({ min: 60, max: 600 }),
    queue: fc.boolean(),
  })
  .map(({ policy, tokens, queue }): MachineOptions => ({
    policy,
    budget: { tokens, reserve: 0 },
    tools: [{ name: "search" }],
    overlap: queue ? { type: "queue", max: 2 } : { type: "reject" },
  }))
  .chain((options) => scheduleFor(options).map((schedule): Play => ({ options, schedule })));

describe("the laws of the machine with summaries", () => {
  test.each(Object.entries(laws))("%s holds", (_, law) => {
    fc.assert(
      fc.property(summarisingPlays, ({ options, schedule }) => law(options, schedule)),
      { numRuns: runs(30) },
    );
  });

  test.each<readonly [string, Move]>([
    ["the head moves", { afterMs: 1, move: "moveHead", to: 0 }],
    ["its turn is truncated", { afterMs: 1, move: "truncate", pick: 0, characters: 1 }],
  ])("they hold if %s while a summary is outstanding", (_, edit) => {
    const options: MachineOptions = { policy: summariseTurns(), budget: { tokens: 500, reserve: 0 } };
    const ask: Move = { afterMs: 1, move: "ask", input: "Well?" };
    const reply = { content: "Yes." };
    const answer: Move = { afterMs: 1, move: "answer", pick: 0, reply, finishReason: "stop", content: null };
    const schedule = { input: { threadId: "t", at: 0 }, moves: [ask, answer, edit, ask, answer] };
    const trace = runSchedule(conversationMachine(options), schedule);
    expect(trace.steps[2]?.transition).toHaveProperty("entry.decided.summaryStale", true);
    for (const law of Object.values(laws)) law(options, schedule);
  });

  test("calls do wait for summaries", () => {
    const missing = new Set(["summary", "compacting", "summaryFailed", "unfit"]);
    for (const { options, schedule } of fc.sample(summarisingPlays, { numRuns: 200, seed: 1 })) {
      for (const { transition } of handledSteps(runSchedule(conversationMachine(options), schedule)))
        for (const what of Object.keys(transition.entry.decided ?? {})) missing.delete(what);
      if (missing.size === 0) break;
    }
    expect([...missing]).toEqual([]);
  });
});

test.each([
  ["any plays", playArbitrary],
  ["plays with summaries", summarisingPlays],
])("the result of a transition or a fold is frozen through and through: %s", (_, plays) => {
  fc.assert(
    fc.property(plays, ({ options, schedule }) => {
      const trace = runSchedule(conversationMachine(options), schedule);
      for (const { event, transition } of trace.steps) expect(unfrozenIn(transition, event.type)).toBeNull();
      const folded = fold(entriesOf(trace));
      expect(Either.isRight(folded) ? unfrozenIn(folded.right, "folded") : folded.left).toBeNull();
    }),
    { numRuns: runs(60) },
  );
});

const emptyPrompt: typeof promptOf = (machine, state) => ({ ...promptOf(machine, state), messages: [] });

describe("checkMachineLaws", () => {
  test.each([{ policy: keepAll() }, { policy: lastTurns(2), interrupted: "omit" as const }])(
    "holds one configuration to all of them: $policy.name",
    (options) => checkMachineLaws(options, { runs: runs(100) }),
  );

  test("says which law does not hold, for which schedule, and from which seed", () => {
    const subject = { ...realSubject, promptOf: emptyPrompt };
    const run = () => checkMachineLaws({}, { runs: 200, seed: 8, subject });
    expect(run).toThrow(/M10: the prompt after entry \d+ .* it is empty/);
    expect(run).toThrow(/seed: 8/);
    expect(run).toThrow(/Counterexample: .*"moves":\[\{/);
  });

  test.each<[run: object, reason: string]>([
    [{ runs: 0 }, "checkMachineLaws: runs must be a whole number ≥ 1 (got 0)"],
    [{ seed: 0.5 }, "checkMachineLaws: seed must be a whole number (got 0.5)"],
    [{ run: 5 }, 'checkMachineLaws has no option "run"'],
  ])("refuses an invalid run: %j", (run, reason) => {
    expect(() => checkMachineLaws({}, run)).toThrow(reason);
  });
});
