import { compactTurns, keepAll, lastTurns, type Policy } from "@colloquy/machine/policies";
import { type CallLlm, type MachineOptions, promptOf, transition } from "@colloquy/machine";
import type { Move, Schedule } from "@colloquy/runtime-test/arbitraries";
import { answeringCallOf, realSubject, type Subject } from "../../../src/arbitraries/trace.ts";
import { LawBroken, policyLaws, type PolicyRun, runPolicy } from "@colloquy/runtime-test/laws";
import { describe, expect, test } from "vitest";

/** A move without its time. */
type Said = Move extends infer Each ? (Each extends Move ? Omit<Each, "afterMs"> : never) : never;

const ask = (input: string) => ({ move: "ask", input }) as const;
const answer = { move: "answer", pick: 0, reply: { content: "This." }, finishReason: "stop", content: null } as const;
const turn = (input: string): readonly Said[] => [ask(input), answer];

/** A conversation, and the policy that is checked on it. */
interface Conversation {
  readonly what: string;
  readonly moves: readonly Said[];
  readonly options?: MachineOptions;
  readonly input?: Partial<Schedule["input"]>;
}

const ran = ({ moves, options = {}, input = {} }: Conversation): PolicyRun =>
  runPolicy(options, scheduleOf(moves, input), { states: 100 });

const scheduleOf = (moves: readonly Said[], input: Conversation["input"] = {}): Schedule => ({
  input: { threadId: "t", at: 0, ...input },
  moves: moves.map((move): Move => ({ afterMs: 0, ...move })),
});

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

test.each(causes)("P9 knows the causes that the journal has: $what", (conversation) => {
  const run = ran(conversation);

  policyLaws.P9(run);

  // Without a cause between them, these prompts must break the law; otherwise the conversation proves nothing.
  expect(() => policyLaws.P9(withoutCause(run))).toThrow(LawBroken);
});

describe("a turn in which nothing is said is led by the last question from its first prompt on", () => {
  const developer = { move: "ask", input: [{ role: "developer", content: "Be brief." }] } as const;
  const search = { ...answer, reply: { toolCalls: [{ id: "c", name: "search", arguments: "{}" }] } } as const;
  const failure = { kind: "overloaded", message: "", retryable: true } as const;
  const failed = { move: "fail", pick: 0, outcome: "failed", content: "" } as const;
  const fails = { ...failed, failure: { ...failure, retryable: false } };
  const failsAtFirst = [{ ...failed, failure }, answer];
  const begun = [...turn("One?"), ...turn("Two?")];
  const options: MachineOptions = { policy: lastTurns(0, { slack: 1 }), tools: [{ name: "search" }] };
  const calling: readonly Said[] = [developer, search, { ...answer, content: "Rain." }, answer];
  const conversations: readonly (readonly [string, readonly Said[], MachineOptions])[] = [
    ["the model calls a tool", calling, {}],
    ["it fails, and a question follows", [developer, fails, ...turn("Three?")], {}],
    ["a question joins it", [developer, ask("Three?"), ...failsAtFirst], { overlap: { type: "steer", max: 1 } }],
  ];

  test.each(conversations)("P9 holds if %s", (what, moves, more) => {
    const run = ran({ what, moves: [...begun, ...moves], options: { ...options, ...more } });

    policyLaws.P9(run);
    policyLaws.P2(run);
    policyLaws.P11(run);

    const calls = run.trace.steps.flatMap(({ transition }) => answeringCallOf(transition)?.messages ?? []);
    expect(calls.map(({ id }) => id)).toContain("3.0");
    const first = run.trace.steps.flatMap(({ transition }) => answeringCallOf(transition) ?? [])[2];
    expect(first?.messages.map(({ id }) => id)).toEqual(["2.0", "3.0"]);
  });

  test("P9 and P2 miss a question that leads only what the model says", () => {
    const leading: Subject["transition"] = (machine, state, event) => {
      const told = transition(machine, state, event);
      return told.handled
        ? { ...told, effects: told.effects.map((effect) => (effect.type === "callLlm" ? withoutLead(effect) : effect)) }
        : told;
    };
    const faulty = {
      ...realSubject,
      transition: leading,
      promptOf: (...given: Parameters<typeof promptOf>) => withoutLead(promptOf(...given)),
    };
    const run = runPolicy(options, scheduleOf([...begun, ...calling]), { states: 100, subject: faulty });

    expect(() => policyLaws.P9(run)).toThrow(/^P9/);
    expect(() => policyLaws.P2(run)).toThrow(/says nothing, and user message 1\.0 was said before/);
  });

  /** Leaves a question out that only a developer's message follows. */
  const withoutLead = <Prompt extends Pick<CallLlm, "messages">>(prompt: Prompt): Prompt => {
    const [first, second, ...rest] = prompt.messages;
    const isAlone = first?.role === "user" && second?.role === "developer" && rest.length === 0;
    return isAlone ? { ...prompt, messages: [second] } : prompt;
  };
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

/** Replaces each event except asks and answers by one that changes no prompt. */
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

/** Shows the first turn as its summary after its end. */
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
