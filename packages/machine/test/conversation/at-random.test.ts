import fc from "fast-check";
import {
  hostilePolicies,
  machineOptionsArbitrary,
  runSchedule,
  scheduleArbitrary,
  stateArbitrary,
} from "@colloquy/runtime-test/arbitraries";
import { describe, expect, test } from "vitest";
import {
  type AskReceived,
  conversationMachine,
  type ConversationMachine,
  lastTurnOf,
  messagesOf,
  promptOf,
  type State,
  transition,
  turnsOf,
} from "../../src/index.ts";
import {
  checkPrompt,
  compactTurns,
  keepAll,
  lastTurns,
  type Policy,
  type PolicyDecision,
  summariseTurns,
} from "../../src/policies.ts";
import { runs } from "../runs.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Pinned content on the path is whole in every prompt, despite any policy or budget.

const deciding = (name: string, decision: Omit<PolicyDecision, "reason">): Policy => ({
  ...keepAll(),
  name,
  decide: () => ({ ...decision, reason: name }),
});
const afterAll = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };

/** Policies that do not show turn 1. */
const hiding: readonly Policy[] = [
  lastTurns(0),
  deciding("none", { from: afterAll }),
  deciding("dropping", { from: null, dropped: ["1.0", "1.1", "1.2"] }),
  deciding("summarised", { from: afterAll, summarised: { from: 1, to: 1 } }),
  deciding("shrunk", { from: null, shrink: [{ rule: "headAndTail", of: "messages", characters: 200 }] }),
  deciding("cleared", {
    from: null,
    shrink: [{ rule: "clear", of: "messages", characters: 200, before: afterAll }],
  }),
];

test("any message of any thread, once pinned, is whole in the next prompt, under any policy", () => {
  const policies = [...hostilePolicies(), ...hiding];
  const property = fc.property(
    stateArbitrary(),
    fc.constantFrom(...policies),
    fc.constantFrom("keep", "omit"),
    fc.nat(),
    (state, policy, interrupted, pick) => {
      const messages = messagesOf(state);
      const message = messages[pick % Math.max(1, messages.length)];
      fc.pre(message !== undefined);
      const machine = conversationMachine({ policy, interrupted });
      const event = { type: "message.pinned", at: state.context.updatedAt, message: message.id, pinned: true } as const;
      const pinned = transition(machine, state, event);
      expect(pinned.handled).toBe(true);
      const prompt = promptOf(machine, pinned.state).messages;
      expect(prompt).toContainEqual(message);
      expect(checkPrompt(prompt)).toBeNull();
    },
  );
  fc.assert(property, { numRuns: runs(300) });
});

const askFrom = (from: AskReceived["from"], askId = "branch") =>
  ({ type: "ask.received", askId, input: "Q", ...(from === undefined ? {} : { from }) }) as const;

test("has the same result as a move of the head and an ask, in every conversation", () => {
  const subject = fc.record({
    options: machineOptionsArbitrary,
    schedule: scheduleArbitrary({ tools: ["search"] }),
    pick: fc.nat(),
  });
  let compared = 0;
  fc.assert(
    fc.property(subject, ({ options, schedule, pick }) => {
      const machine = conversationMachine(options);
      const { started, steps } = runSchedule(machine, schedule);
      const states = [started.state, ...steps.map(({ transition: { state } }) => state)];
      for (const state of states) compared += sameInOneStep(machine, state, pick) ? 1 : 0;
    }),
    { numRuns: runs(200) },
  );
  expect(compared).toBeGreaterThan(runs(200));
});

/** Returns false if such an ask is refused; then the move or the ask alone must be refused as well. */
const sameInOneStep = (machine: ConversationMachine, before: State, pick: number): boolean => {
  const { conversation } = before.context;
  const at = before.context.updatedAt + 1;
  const from = pick % (conversation.turns.length + 1);
  const once = transition(machine, before, { ...askFrom(from), at });
  const moved = transition(machine, before, { type: "head.moved", at, to: from });
  const twice = transition(machine, moved.state, { ...askFrom(undefined), at });
  expect(once.handled).toBe(moved.handled && twice.handled);
  if (!once.handled) return false;
  expect({ ...once.state.context, seq: 0 }).toEqual({ ...twice.state.context, seq: 0 });
  expect(once.state.value).toEqual(twice.state.value);
  return true;
};

// Whatever a summariser does, and however the head moves meanwhile, answers come and every prompt fits.

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

/** Ends the wait for a summary; with null, the summary fails. */
const settle = (talk: CheckedTalk, length: number | null): void => {
  if (length === null) talk.failSummary();
  else talk.summarise("s".repeat(length));
};

/** Makes a call that may first wait for several summaries, and checks the size of its prompt. */
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
