import * as Either from "fp-ts/lib/Either.js";
import { machineOptionsArbitrary, runSchedule, scheduleArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AskReceived,
  conversationMachine,
  type ConversationMachine,
  type State,
  transition,
  turnNumbered,
  turnsOf,
} from "../../src/index.ts";
import { lostEventIn } from "../../src/hosting.ts";
import { fold, forkOf } from "../../src/journal.ts";
import { summariseTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";

const talkOf = (turns: number, options: ConstructorParameters<typeof CheckedTalk>[0] = {}): CheckedTalk => {
  const talk = new CheckedTalk(options);
  for (let turn = 1; turn <= turns; turn++) talk.say(`Q${turn}`, `A${turn}`);
  return talk;
};

const askFrom = (from: AskReceived["from"], askId = "branch") =>
  ({ type: "ask.received", askId, input: "Q", ...(from === undefined ? {} : { from }) }) as const;

describe("an ask behind a turn", () => {
  test("moves the head and opens its turn in one entry", () => {
    const talk = talkOf(3);
    talk.tell(askFrom(1));
    expect(talk.sent()).toEqual(["Q1", "A1", "Q"]);
    talk.reply("A");
    expect(turnsOf(talk.state).map(({ number }) => number)).toEqual([1, 4]);
    expect(turnNumbered(talk.state, 4)).toMatchObject({ parent: 1 });
    talk.replays();
  });

  test("at the beginning, or behind a checkpoint", () => {
    const talk = talkOf(1);
    talk.tell({ type: "checkpoint.named", name: "here" });
    talk.say("Q2", "A2");
    talk.tell(askFrom(0, "anew"));
    expect(talk.sent()).toEqual(["Q"]);
    talk.reply("A");
    talk.tell(askFrom({ checkpoint: "here" }));
    expect(talk.sent()).toEqual(["Q1", "A1", "Q"]);
  });

  test("an unknown place is refused with what there is; so is what contradicts it", () => {
    const talk = talkOf(2);
    expect(talk.refused(askFrom(3))).toEqual({ kind: "unknown", reason: "no closed turn 3; there are 1 to 2" });
    expect(talk.refused(askFrom({ checkpoint: "toString" })).reason).toMatch(/no checkpoint "toString".*none/);
    expect(talk.refused({ ...askFrom(1), overlap: "queue" }).reason).toMatch(/leave out from, or overlap: "queue"/);
    expect(talk.refused({ ...askFrom(1), joins: {} }).reason).toMatch(/leave out from, or joins/);
    expect(talk.refused({ ...askFrom(0), input: "" }).reason).toMatch(/nothing to send/);
  });

  test.each(["queue", "interrupt", "merge", "latest", "steer"] as const)(
    "is refused as busy whatever the machine's overlap says: %s",
    (type) => {
      const overlap = type === "interrupt" || type === "latest" ? { type } : { type, max: 3 };
      const talk = talkOf(2, { overlap });
      talk.ask("open");
      expect(talk.refused(askFrom(1))).toMatchObject({ kind: "busy" });
      expect(talk.refused(askFrom(1)).reason).toMatch(/turn 3 is open.*wait for its end, cancel it, or ask in a fork/);
    },
  );

  test("is refused while a queued ask is about to open its turn", () => {
    const talk = talkOf(1, { overlap: { type: "queue", max: 1 } });
    talk.ask("open");
    talk.ask("waits");
    talk.reply("A");
    expect(talk.refused(askFrom(1)).reason).toMatch(/turn 3 is open or about to be/);
  });

  test("the same again gives the outcome of the first", () => {
    const talk = talkOf(2);
    talk.tell(askFrom(1));
    expect(talk.refused(askFrom(1))).toMatchObject({ kind: "stale", turn: 3 });
    talk.reply("A");
    expect(talk.refused(askFrom(2))).toMatchObject({ kind: "stale", turn: 3 });
  });

  test("a summary of turns that leave the path is called off, as by a move of the head", () => {
    const policy = summariseTurns({ maxTurns: 1, instruction: "Sum up." });
    const talk = talkOf(3, { policy });
    expect(talk.isSummarising()).toBe(true);
    const summary = talk.summary().id;
    talk.tell(askFrom(0));
    expect(talk.effects).toContainEqual({ type: "cancelLlm", effectId: summary });
    expect(talk.isSummarising()).toBe(false);
  });

  test("what was appended is a turn of its own, and a copy may end with it", () => {
    const talk = talkOf(1);
    talk.tell({ type: "message.appended", message: { role: "user", content: "By the way" } });
    talk.tell(askFrom(1));
    talk.reply("A");
    expect(turnsOf(talk.state).map(({ number }) => number)).toEqual([1, 3]);
    const copy = forkOf(talk.entries, { threadId: "copy", turn: 2, at: 99 });
    if (Either.isLeft(copy)) throw new Error(copy.left);
    expect(fold(copy.right.entries)).toMatchObject({
      right: { context: { open: null, conversation: { head: 2 } } },
    });
    expect(lostEventIn(copy.right.entries)).toBeNull();
  });
});

test("comes to what a move of the head and an ask come to, in every conversation", () => {
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

/** False where such an ask is refused; then the move or the ask has to be refused as well. */
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
