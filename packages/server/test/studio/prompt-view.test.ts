import { conversationMachine, type Event, type MachineOptions, start, transition } from "@colloquy/machine";
import type { Counter, Policy, PolicyDecision } from "@colloquy/machine/policies";
import { expect, test } from "vitest";
import { promptChange, promptView } from "../../src/studio/projections/prompt-view.ts";

/** Counts a token for each character. */
const counter: Counter = {
  name: "characters",
  version: 1,
  options: {},
  perMessage: 0,
  perPrompt: 0,
  countPart: (part) => (part.type === "text" ? part.text.length : 0),
};

/** Returns the given decision once the first two turns have a summary, and shows everything until then. */
const telling = (decision: Omit<PolicyDecision, "reason">): Policy => ({
  name: "telling",
  version: 1,
  options: {},
  monotone: false,
  stable: false,
  decide: ({ history }) => {
    const isReady = [...history.newestFirst()].some(({ summaries }) => summaries.length > 0);
    return isReady ? { ...decision, reason: "as told" } : { from: null, reason: "everything" };
  },
  summariser: {
    instruction: "Sum it up.",
    model: {},
    maxTokens: 100,
    requestTokens: 9_999,
    next: ({ history }) => {
      const turns = [...history.newestFirst()];
      const isDone = turns.some(({ summaries }) => summaries.length > 0);
      return turns.length === 4 && !isDone ? { covers: { from: 1, to: 2 }, earlier: null } : null;
    },
  },
});

const talk = (options: MachineOptions, events: readonly Event[], system: string | null = "Be kind.") => {
  const machine = conversationMachine(options);
  let { state } = start(machine, { threadId: "t", at: 0, ...(system === null ? {} : { system }) });
  for (const event of events) {
    const step = transition(machine, state, event);
    if (!step.handled) throw new Error(step.refusal.reason);
    ({ state } = step);
  }
  return { machine, state };
};

const turn = (number: number, answer = `a${number}`): readonly Event[] => [
  { type: "ask.received", at: number, askId: `ask ${number}`, input: `q${number}` },
  {
    type: "llm.completed",
    at: number,
    effectId: `t/${number}.1#1`,
    reply: { content: answer },
    finishReason: "stop",
  },
];
const summary: Event = {
  type: "llm.completed",
  at: 4,
  effectId: "t/summary-1#1",
  reply: { content: "S" },
  finishReason: "stop",
};
const asked: Event = { type: "ask.received", at: 5, askId: "ask 5", input: "q5?" };
const long = "x".repeat(1_000);
const events: readonly Event[] = [
  ...turn(1),
  ...turn(2),
  { type: "message.pinned", at: 2, message: "1.0", pinned: true },
  ...turn(3, long),
  ...turn(4),
  summary,
  asked,
];
const decision = {
  from: { turn: 3, unit: 0 },
  summarised: { from: 1, to: 2 },
  dropped: ["4.1"],
  shrink: [{ rule: "headAndTail", of: "messages", characters: 200 }],
} as const;

const viewOf = (
  told: Omit<PolicyDecision, "reason">,
  as: "sent" | "now" = "sent",
  of: readonly Event[] = events,
  system?: string | null,
) => {
  const { machine, state } = talk({ counter, policy: telling(told) }, of, system);
  return promptView(state, { machine, as, seq: 9, reported: 77 });
};

const segmentsOf = (segments: readonly { readonly kind: string; readonly tokens: number; readonly from: number }[]) =>
  segments.map(({ kind, tokens, from }) => `${from} ${kind} ${tokens}`);

test("promptView lists each unit with its outcome, and the summary in its place", () => {
  const { view, units } = viewOf(decision);
  expect(
    units.map(({ index, turn: number, name, shown, sentTokens, words }) =>
      [index, number, name, shown, sentTokens, words.slice(0, 8)].join(" "),
    ),
  ).toEqual([
    "0  system whole 8 Be kind.",
    "1  summary whole 46 Earlier ",
    "2 1 user whole 2 q1",
    "3 1 assistant summary 0 a1",
    "4 2 user summary 0 q2",
    "5 2 assistant summary 0 a2",
    "6 3 user whole 2 q3",
    "7 3 assistant shrunk 200 xxxxxxxx",
    "8 4 user whole 2 q4",
    "9 4 assistant out 0 a4",
    "10 5 user whole 3 q5?",
  ]);
  expect(units[1]?.why).toBe("stands for turns 1 to 2");
  expect(segmentsOf(view.sent)).toEqual([
    "0 system 8",
    "1 summary 46",
    "2 pinned 2",
    "6 whole 2",
    "7 shrunk 200",
    "8 whole 2",
    "10 open 3",
  ]);
  expect(segmentsOf(view.whole)).toEqual([
    "0 system 8",
    "1 summary 46",
    "2 pinned 2",
    "3 summarised 2",
    "4 summarised 4",
    "6 whole 2",
    "7 shrunk 1000",
    "8 whole 2",
    "9 out 2",
    "10 open 3",
  ]);
  expect(view).toMatchObject({
    call: { seq: 9, turn: 5, step: 1, attempt: 1, tools: [], reported: 77 },
    configured: true,
    tokens: 263,
    counts: { whole: 6, shrunk: 1, summary: 3, out: 1 },
  });
  expect(
    viewOf(decision, "sent", events, null)
      .units.map(({ name }) => name)
      .slice(0, 2),
  ).toEqual(["summary", "user"]);
});

const added = (count: number) =>
  Array.from({ length: count }, (_, index): Event => ({
    type: "turn.added",
    at: 4,
    messages: [
      { role: "user", content: `q${index}` },
      { role: "assistant", content: "answer" },
    ],
  }));

test("promptView groups up to 200 units by turn, and more than 200 units by kind", () => {
  const shown = (count: number) =>
    viewOf({ from: null }, "now", [...events.slice(0, -1), ...added(count), asked]).view.whole.map(
      ({ units }) => units,
    );
  expect(shown(95)).toEqual([1, 1, 1, ...Array.from({ length: 98 }, () => 2), 1]);
  expect(shown(96)).toEqual([2, 199, 1]);
});

test("promptView shows a prompt of many units in at most 200 segments, which cover all of them", () => {
  const many = added(150);
  const dropped = many.map((_, index) => `${index + 5}.1`);
  const made = viewOf({ from: null, dropped }, "now", [...events.slice(0, -1), ...many, asked]);
  const whole = made.view.whole;
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
  expect(made.units).toHaveLength(310);
  expect(whole).toHaveLength(103);
  expect(sum(whole.map(({ units }) => units))).toBe(310);
  expect(sum(whole.map(({ tokens }) => tokens))).toBe(sum(made.units.map(({ tokens }) => tokens ?? 0)));
  expect(whole.map(({ from }) => from)).toEqual(
    whole.map((_, index) => sum(whole.slice(0, index).map(({ units }) => units))),
  );
});

test("promptChange lists the added, removed and changed messages between two prompts", () => {
  const [one, other] = [viewOf({ from: null }), viewOf(decision)];
  const idsOf = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);
  const change = promptChange(one, other);
  expect({
    ...change,
    added: idsOf(change.added),
    removed: idsOf(change.removed),
    changed: change.changed.length,
  }).toEqual({
    before: one.view.call,
    after: other.view.call,
    alike: 5,
    added: ["summary.1-2.1"],
    removed: ["1.1", "2.0", "2.1", "4.1"],
    changed: 1,
  });
  expect(change.changed[0]?.before.id).toBe("3.1");
});

test("promptView shows no tokens of a unit that its counter can't count", () => {
  const unable: Counter = {
    ...counter,
    countPart: () => {
      throw new Error("it is unable");
    },
  };
  const { machine, state } = talk({ counter: unable }, [asked]);
  const { view, units } = promptView(state, { machine, as: "sent", seq: 9, reported: null });
  expect(units.map(({ tokens, sentTokens }) => [tokens, sentTokens])).toEqual([
    [null, null],
    [null, null],
  ]);
  for (const segments of [view.sent, view.whole]) expect(segmentsOf(segments)).toEqual(["0 system 0", "1 open 0"]);
});

test("promptChange lists at most 100 messages of each kind", () => {
  const shown = (decided: Omit<PolicyDecision, "reason">, system?: string) =>
    viewOf(decided, "now", [...events.slice(0, -1), ...added(100), asked], system);
  const [all, few] = [shown({ from: null }), shown({ from: { turn: 105, unit: 0 } })];
  const counts = (change: ReturnType<typeof promptChange>) => [
    change.alike,
    ...[change.added, change.removed, change.changed].map(({ length }) => length),
  ];
  expect(counts(promptChange(all, few))).toEqual([3, 0, 100, 0]);
  expect(counts(promptChange(few, all))).toEqual([3, 100, 0, 0]);
  expect(counts(promptChange(all, all))[1]).toBe(0);
});

test("promptView throws an error if no model call is outstanding", () => {
  expect(() => viewOf(decision, "sent", turn(1))).toThrow("no model call is outstanding");
});
