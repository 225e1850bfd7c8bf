import {
  contentArbitrary,
  replyArbitrary,
  reportedUsageArbitrary,
  textArbitrary,
  traceArbitrary,
  type TraceStep,
} from "@colloquy/runtime-test/arbitraries";
import { unfrozenIn } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { decide } from "../../src/conversation/decide/decide.ts";
import { internals } from "../../src/conversation/machine.ts";
import { readEvent } from "../../src/conversation/protocol/event-forms.ts";
import { thawed } from "../../src/conversation/protocol/thaw.ts";
import { mayGoStraight, straightStep } from "../../src/conversation/straight.ts";
import { update } from "../../src/conversation/update/update.ts";
import {
  type Content,
  type ConversationMachine,
  conversationMachine,
  type Event,
  type ReplyDraft,
  type ReportedUsage,
  start,
  transition,
} from "../../src/index.ts";
import { lastTurns } from "../../src/policies.ts";
import { promptsAnew } from "../../src/prompt/prompts.ts";
import { runs } from "../runs.ts";

import fc from "fast-check";

type Step = Pick<TraceStep, "before" | "event">;

/** Checks that the fast path equals the general one. Returns the kind of an event that takes the fast path. */
const bothWays = (machine: ConversationMachine, { before: { context }, event }: Step): readonly string[] => {
  const read = readEvent(event);
  if (Either.isLeft(read) || !mayGoStraight(context, read.right)) return [];
  const decided = decide(machine[internals].settings, context, read.right);
  if (Either.isLeft(decided)) return [];
  const straight = straightStep(context, read.right, decided.right, promptsAnew);
  if (straight === null) return [];
  const { data, arrow, effects } = update(thawed(context), read.right, decided.right);
  expect(JSON.stringify(straight)).toBe(JSON.stringify({ data, arrow, effects: effects(promptsAnew) }));
  expect(unfrozenIn(straight.data) ?? unfrozenIn(straight.effects) ?? unfrozenIn(decided.right.cut ?? null)).toBeNull();
  return [
    event.type === "llm.completed" && (event.reply.toolCalls ?? []).length > 0 ? "llm.completed, calls" : event.type,
  ];
};

const kinds = ["ask.received", "llm.completed", "llm.completed, calls", "tool.completed"];

const tools = [{ name: "search" }, { name: "add" }];

interface PlainTurn {
  readonly input: string;
  /** The replies for the calls of the model; a call without one ends the turn. */
  readonly replies: readonly (readonly [ReplyDraft, ReportedUsage | null])[];
  readonly content: Content;
}

const plainTurn = fc.record<PlainTurn>({
  input: textArbitrary,
  replies: fc.array(fc.tuple(replyArbitrary(["search", "add"]), fc.option(reportedUsageArbitrary, { nil: null })), {
    maxLength: 3,
  }),
  content: contentArbitrary,
});

/** Plays turns, and answers each effect in its order. */
const played = function* (machine: ConversationMachine, turns: readonly PlainTurn[]): Generator<Step> {
  let { state } = start(machine, { threadId: "thread/1", at: 0, system: "Be brief." });
  let at = 0;
  for (const { input, replies, content } of turns) {
    let called = 0;
    const events: Event[] = [{ type: "ask.received", at: ++at, askId: `ask-${at}`, input }];
    for (const event of events) {
      yield { before: state, event };
      const told = transition(machine, state, event);
      state = told.state;
      for (const { type, ...effect } of told.effects) {
        if (!("id" in effect)) continue;
        const [reply, usage] = replies[called] ?? [{ content: "Done." }, null];
        const answer = { at: ++at, effectId: effect.id };
        if (type === "callTool") events.push({ type: "tool.completed", ...answer, content });
        if (type !== "callLlm") continue;
        called++;
        const reported = usage === null ? {} : { usage };
        events.push({ type: "llm.completed", ...answer, reply, finishReason: "stop", ...reported });
      }
    }
  }
};

describe("straightStep", () => {
  test("the fast path gives the same data, arrow and effects as the general path in random conversations", () => {
    const asked = new Set<string>();
    fc.assert(
      fc.property(traceArbitrary(), ({ machine, steps }) => {
        for (const step of steps) for (const kind of bothWays(machine, step)) asked.add(kind);
      }),
      { numRuns: runs(1_600) },
    );
    expect(asked).toContain("ask.received");
  });

  test.each([
    ["that keeps everything", conversationMachine({ tools })],
    [
      "that shows two turns, and takes unknown tools",
      conversationMachine({ tools, policy: lastTurns(2), unknownTool: "ask" }),
    ],
  ])("the fast path gives the same as the general path in plain conversations of a machine %s", (_, machine) => {
    const straight = new Set<string>();
    fc.assert(
      fc.property(fc.array(plainTurn, { maxLength: 12 }), (turns) => {
        for (const step of played(machine, turns)) for (const kind of bothWays(machine, step)) straight.add(kind);
      }),
      { numRuns: runs(3_200) },
    );
    expect([...straight].toSorted()).toEqual(kinds);
  });
});
