import { compactTurns, keepAll, lastTurns, type Policy } from "@colloquy/machine/policies";
import type { MachineOptions } from "@colloquy/machine";
import type { Move, Schedule } from "@colloquy/runtime-test/arbitraries";
import { LawBroken, policyLaws, type PolicyRun, runPolicy } from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";

/** A move without its time. */
type Said = Move extends infer Each ? (Each extends Move ? Omit<Each, "afterMs"> : never) : never;

const ask = (input: string) => ({ move: "ask", input }) as const;
const answer = { move: "answer", pick: 0, reply: { content: "This." }, finishReason: "stop", content: null } as const;
const turn = (input: string): readonly Said[] => [ask(input), answer];

/** A conversation, and the policy that is held to a law on it. */
interface Conversation {
  readonly what: string;
  readonly moves: readonly Said[];
  readonly options?: MachineOptions;
  readonly input?: Partial<Schedule["input"]>;
}

const ran = ({ moves, options = {}, input = {} }: Conversation): PolicyRun =>
  runPolicy(
    options,
    {
      input: { threadId: "t", at: 0, ...input },
      moves: moves.map((move): Move => ({ afterMs: 0, ...move })),
    },
    { states: 100 },
  );

const causes: readonly Conversation[] = [
  {
    what: "a system prompt that is changed",
    moves: [...turn("One?"), { move: "changeSystem", system: "Be brief." }, ...turn("Two?")],
  },
  {
    what: "a system prompt that is reset",
    moves: [{ move: "changeSystem", system: null }, ...turn("One?"), { move: "resetSystem" }, ...turn("Two?")],
    input: { system: "Be kind." },
  },
  { what: "a head that is moved", moves: [...turn("One?"), { move: "moveHead", to: 0 }, ...turn("Two?")] },
  {
    what: "an answer that is truncated",
    moves: [...turn("One?"), ...turn("Two?"), { move: "truncate", pick: 0, characters: 2 }, ...turn("Three?")],
  },
  {
    what: "a pin in a turn that is left out",
    moves: [
      ...["One?", "Two?", "Three?", "Four?"].flatMap(turn),
      { move: "pin", pick: 0, pinned: true },
      ...turn("Five?"),
    ],
    options: { policy: lastTurns(1, { slack: 1 }) },
  },
  {
    what: "an interrupted turn that is left out",
    moves: [ask("One?"), { move: "cancel", whom: "open" }, ...turn("Two?")],
    options: { interrupted: "omit" },
  },
  {
    what: "a redaction that takes a summary out",
    moves: [
      ...["One?", "Two?"].flatMap(turn),
      { ...answer, reply: { content: "[redacted]" } },
      ...turn("Three?"),
      { move: "redact", pick: 1 },
      ...turn("Four?"),
    ],
    options: { policy: firstTurnAsSummary(), budget: { tokens: 300, reserve: 0 } },
  },
];

describe("P9 knows the causes that stand in the journal", () => {
  test.each(causes)("$what", (conversation) => {
    const run = ran(conversation);

    policyLaws.P9(run);

    // The same prompts with no cause between them would break it, so the conversation says something.
    expect(() => policyLaws.P9(withoutCause(run))).toThrow(LawBroken);
  });
});

describe("P4 knows what corrects the counter", () => {
  const round = { toolCalls: [{ id: "c", name: "search", arguments: "{}" }] };

  test.each<readonly [string, Said]>([
    ["a redaction", { move: "redact", pick: 0 }],
    [
      "a thread that rises to another format",
      { move: "appendRound", reply: round, results: [{ outcome: "completed", content: "found" }] },
    ],
  ])("a report of a model, until %s", (what, move) => {
    const run = ran({
      what,
      moves: [ask("One?"), { ...answer, usage: { inputTokens: 80 } }, move, ...turn("Two?")],
      options: { policy: keepAll(), budget: { tokens: 80, reserve: 0 } },
      input: { seed: [{ role: "user", content: "A remark that takes up some room. ".repeat(5) }] },
    });

    policyLaws.P4(run);

    expect(run.views.map(({ calibration }) => calibration > 1)).toContain(true);
    expect(run.views.at(-1)?.calibration).toBe(1);
  });
});

/** The run with each event but asks and answers taken for one that changes no prompt. */
const withoutCause = (run: PolicyRun): PolicyRun => ({
  ...run,
  options: { ...run.options, interrupted: "keep" },
  trace: {
    ...run.trace,
    steps: run.trace.steps.map((step) => ({
      ...step,
      event: causeless.test(step.event.type) ? step.event : { type: "checkpoint.named", at: 0, name: "here" },
    })),
  },
});

/** Shows the first turn as its summary, once it has ended. */
function firstTurnAsSummary(): Policy {
  const summarised = { from: 1, to: 1 };
  return {
    ...compactTurns({ keepTurns: 1, at: 0.02 }),
    name: "first-as-summary",
    decide: ({ history }) =>
      [...history.newestFirst()].length < 2
        ? { from: null, reason: "there is one turn" }
        : { from: { turn: 2, unit: 0 }, summarised, reason: "there are more" },
  };
}

const causeless = /^(?:ask|llm)\./;
