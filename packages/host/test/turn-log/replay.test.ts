import type { AskPart } from "@colloquy/host";
import {
  conversationMachine,
  type Event,
  outstanding,
  start,
  type State,
  transition,
  turnNumbered,
} from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { ofJournal, TurnLog } from "../../src/turn-log/log.ts";
import { partsAwaited } from "../../src/turn-log/parts.ts";
import { agrees, completeLog, completeOpenLog, replayOf, replayOfOpen } from "../../src/turn-log/replay.ts";

const machine = conversationMachine({ tools: [{ name: "f" }, { name: "g" }], unknownTool: "ask" });

/** An event, or the answer to an outstanding effect. */
type Given = Event | { readonly at: number; readonly effect: number; readonly is: object };

/** Returns the state of a thread after events. An answer gives the index of its effect among the outstanding ones. */
const stateAfter = (...events: readonly Given[]): State => {
  let { state } = start(machine, { threadId: "t", at: 0 });
  for (const given of events) {
    // Cast: the effect completes the event.
    const event =
      "effect" in given ? ({ ...given.is, at: 1, effectId: outstanding(state)[given.effect]?.id } as Event) : given;
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state } = step);
  }
  return state;
};
const ask: Event = { type: "ask.received", at: 1, askId: "a", input: "Q" };
const says = (reply: object) => ({ at: 1, effect: 0, is: { type: "llm.completed", reply, finishReason: "stop" } });
const gives = (content: unknown, effect = 0) => ({ at: 1, effect, is: { type: "tool.completed", content } });
const called = {
  content: [
    { type: "reasoning", text: "hm" },
    { type: "text", text: "One moment." },
    { type: "text", text: "" },
  ],
  toolCalls: ["f", "g"].map((name) => ({ id: null, name, arguments: "{}" })),
};
const rounds = [ask, says(called), gives("1"), gives([{ type: "image", url: "u" }])];

const at = { turn: 1, step: 1 };
const first: readonly AskPart[] = [
  { type: "turn.started", turn: 1, askIds: ["a"] },
  { type: "step.started", ...at },
  { type: "reasoning.delta", ...at, attempt: 1, text: "hm" },
  { type: "text.delta", ...at, attempt: 1, text: "One moment." },
  { type: "toolCall", ...at, position: 0, callId: "1.1.0", name: "f", arguments: "{}" },
  { type: "toolCall", ...at, position: 1, callId: "1.1.1", name: "g", arguments: "{}" },
  { type: "toolResult", ...at, position: 0, callId: "1.1.0", name: "f", outcome: "completed", content: "1" },
  {
    type: "toolResult",
    ...at,
    position: 1,
    callId: "1.1.1",
    name: "g",
    outcome: "completed",
    content: [{ type: "image", url: "u" }],
  },
  { type: "step.ended", ...at },
];
const second: readonly AskPart[] = [
  { type: "step.started", turn: 1, step: 2 },
  { type: "text.delta", turn: 1, step: 2, attempt: 1, text: "Done." },
  { type: "step.ended", turn: 1, step: 2 },
  { type: "turn.ended", turn: 1, status: "completed" },
];
const whole = [...first, ...second];
const anew = (step: number): AskPart => ({ type: "replay.started", turn: 1, step, synthesised: true });
const textOf = (words: string, attempt = 1): AskPart => ({ type: "text.delta", ...at, attempt, text: words });

describe("replayOf", () => {
  test("the replay of a turn has the parts of its steps, with whole texts, and results in the order of the calls", () => {
    const turn = turnNumbered(stateAfter(...rounds, says({ content: "Done." })), 1);
    expect(turn === undefined ? null : replayOf(turn)).toEqual(whole);
  });

  test("the replay of an open turn has the parts so far, and no step for an appended assistant message", () => {
    const partsOf = (...events: readonly Given[]) => {
      const { open } = stateAfter(...events).context;
      return open === null ? null : replayOfOpen(open);
    };
    const appended: Event = { type: "message.appended", at: 1, message: { role: "assistant", content: "Well." } };
    expect(partsOf(ask)).toEqual(first.slice(0, 1));
    expect(partsOf(ask, appended)).toEqual(first.slice(0, 1));
    expect(partsOf(...rounds.slice(0, 2))).toEqual(first.slice(0, 6));
    expect(partsOf(...rounds.slice(0, 3))).toEqual(first.slice(0, 7));
    expect(partsOf(...rounds)).toEqual(first.slice(0, 8));
    const closed = turnNumbered(stateAfter(appended, ask, says({ content: "Done." })), 1);
    expect(closed === undefined ? null : replayOf(closed).flatMap((part) => ("text" in part ? part.text : []))).toEqual(
      ["Done."],
    );
  });
});

describe("completeLog", () => {
  /** Returns the parts that completion adds to a log with these parts. */
  const completed = (...shown: readonly AskPart[]): readonly AskPart[] => {
    const log = new TurnLog(1);
    for (const part of shown) log.append(7, part);
    const { end } = log;
    completeLog(log, whole);
    return log.parts.slice(end);
  };

  test.each<readonly [string, readonly AskPart[], readonly AskPart[]]>([
    ["no parts", [], [anew(1), ...whole]],
    ["all parts", whole, []],
    ["all but the end", whole.slice(0, -1), whole.slice(-1)],
    ["only the first step", first, second],
    ["half of a text", [...first.slice(0, 3), textOf("One ")], [textOf("moment."), ...first.slice(4), ...second]],
    [
      "a text in another attempt",
      [...first.slice(0, 2), textOf("Oh", 1), textOf("One ", 2)],
      [{ ...first[2], attempt: 2 } as AskPart, textOf("moment.", 2), ...first.slice(4), ...second],
    ],
    ["a different text", [...first.slice(0, 3), textOf("Two ")], [anew(1), ...whole]],
    [
      "a different text in the second step",
      [...first, ...second.slice(0, 1), { ...second[1], text: "Doing" } as AskPart],
      [anew(2), ...second],
    ],
    ["a different result", [...first.slice(0, 6), { ...first[6], content: "2" } as AskPart], [anew(1), ...whole]],
    ["a step that was lost with its thread", [...first.slice(0, 4), { type: "thread.lost", turn: 1 }], whole.slice(1)],
    ["only the start of the second step", second.slice(0, 2), second.slice(2)],
    [
      "a second step that was shown again and then lost",
      [
        ...first,
        { type: "step.started", turn: 1, step: 2 },
        { type: "text.delta", turn: 1, step: 2, attempt: 1, text: "Wrong" },
        anew(2),
        { type: "step.started", turn: 1, step: 2 },
        { type: "text.delta", turn: 1, step: 2, attempt: 1, text: "Do" },
      ],
      [{ ...second[1], text: "ne." } as AskPart, ...second.slice(2)],
    ],
    ["a replay of the second step that has not begun", [...first, ...second.slice(0, 2), anew(2)], second],
    [
      "a replay of the whole turn that has not begun",
      [...first, ...second.slice(0, 2), anew(1)],
      [...first.slice(1), ...second],
    ],
    ["a step that began twice", [...first, ...second.slice(0, 2), second[0] as AskPart], second.slice(1)],
    ["only the start of the turn", first.slice(0, 1), whole.slice(1)],
    [
      "results in another order",
      [...first.slice(0, 6), ...first.slice(6, 8).toReversed()],
      [...first.slice(8), ...second],
    ],
    ["a step that has its end but not all other parts", [...first.slice(0, 5), ...first.slice(6)], [anew(1), ...whole]],
    [
      "a step without its end, and the start of the next one",
      [...first.slice(0, -1), ...second.slice(0, 2)],
      second.slice(2),
    ],
  ])("completion from the journal adds missing parts, or a replay, to a log with %s", (_, shown, added) => {
    expect(completed(...shown)).toEqual(added);
  });

  test("completion from the journal ends no step before the one before a replay", () => {
    const third: readonly AskPart[] = [
      { type: "step.started", turn: 1, step: 3 },
      { type: "step.ended", turn: 1, step: 3 },
      ...second.slice(3),
    ];
    const log = new TurnLog(1);
    for (const part of [...first.slice(0, -1), ...second.slice(0, 3), ...third.slice(0, 1), anew(3)])
      log.append(7, part);
    const { end } = log;
    completeLog(log, [...first, ...second.slice(0, 3), ...third]);
    expect(log.parts.slice(end)).toEqual(third);
  });

  test("completion from the journal adds no result again of a tool that gave nothing", () => {
    const turn = turnNumbered(stateAfter(ask, says(called), gives(null), gives("2", 0), says({ content: "Done." })), 1);
    const log = new TurnLog(1);
    const replayed = turn === undefined ? [] : replayOf(turn);
    for (const part of replayed.slice(0, -1))
      log.append(7, part.type === "toolResult" && part.callId === "1.1.0" ? { ...part, content: null } : part);
    completeLog(log, replayed);
    expect([log.end, replayed.length]).toEqual([whole.length, whole.length]);
  });

  test("agrees returns false only if the parts of a log differ from those of the journal", () => {
    expect([agrees([], whole), agrees(first, whole), agrees(whole, whole)]).toEqual([true, true, true]);
    expect(agrees([...first.slice(0, 3), textOf("Two ")], whole)).toBe(false);
  });

  test("completeOpenLog adds only the missing parts of the open step, and adds them once", () => {
    const state = stateAfter(...rounds.slice(0, 3));
    const log = new TurnLog(1);
    for (const part of first.slice(0, 4)) log.append(7, part);
    completeOpenLog(log, 7, state);
    expect([log.parts.slice(4), log.journalledStep]).toEqual([first.slice(4, 7), 1]);
    completeOpenLog(log, 7, state);
    expect(log.end).toBe(7);
    completeOpenLog(log, 7, stateAfter(...rounds));
    expect(log.parts.slice(7)).toEqual(first.slice(7, 8));
    const empty = new TurnLog(1);
    completeOpenLog(empty, 7, state);
    expect(empty.parts).toEqual([anew(1), ...first.slice(0, 7)]);
    const none = new TurnLog(1);
    completeOpenLog(none, 7, stateAfter(ask));
    completeOpenLog(none, 7, stateAfter(ask, says({ content: "Done." })));
    expect([none.end, none.journalledStep]).toEqual([0, 0]);
  });

  test("completeOpenLog adds a request for approval although another one of its step was shown", () => {
    const withheld = (effect: number) => ({
      at: 1,
      effect,
      is: { type: "tool.withheld", because: "declared", arguments: {} },
    });
    const state = stateAfter(ask, says(called), withheld(0), withheld(1));
    const requests = partsAwaited(state);
    expect(requests).toHaveLength(2);
    const log = new TurnLog(1);
    for (const part of [...first.slice(0, 6), ...requests.slice(0, 1)]) log.append(7, part);
    completeOpenLog(log, 7, state);
    expect(log.parts.slice(7)).toEqual(requests.slice(1));
  });

  test("a log that is completed from the journal has the journal's places, which are the same in every process", () => {
    const log = new TurnLog(1);
    completeLog(log, whole);
    expect([log.at(0), log.at(1), log.at(whole.length)].map((kept) => [kept?.epoch, kept?.index])).toEqual([
      [ofJournal, 0],
      [ofJournal, 1],
      [ofJournal, whole.length],
    ]);
  });
});
