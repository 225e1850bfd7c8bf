import {
  type AnswerableEffect,
  conversationMachine,
  type Entry,
  type Event,
  type MachineOptions,
  noUsage,
  outstanding,
  pricesPerMillion,
  start,
  type State,
  transition,
  usageMonoid,
  usageOfCall,
} from "@colloquy/machine";
import { expect, test } from "vitest";
import {
  differenceOf,
  factsOf,
  figuresOf,
  overviewOf,
  treeOf,
  usageWords,
} from "../../src/studio/projections/thread-views.ts";
import { rowOf } from "../../src/studio/projections/timeline-row.ts";
import { turnView } from "../../src/studio/projections/turn-view.ts";

const options: MachineOptions = {
  tools: [{ name: "look" }, { name: "pay", approval: "always" }],
  overlap: { type: "queue", max: 4 },
  retry: { attempts: 2, baseDelayMs: 10 },
  pricing: pricesPerMillion("EUR", { m1: { input: 1_000, output: 0 } }),
};

const llm = (at: number, place: string, content: string, ...names: readonly string[]): Event => ({
  type: "llm.completed",
  at,
  effectId: `t/${place}`,
  reply: { content, toolCalls: names.map((name, index) => ({ id: `c${index}`, name, arguments: `{"n":${index}}` })) },
  finishReason: names.length === 0 ? "stop" : "tool_calls",
  model: "m1",
  usage: { inputTokens: 1_200, outputTokens: 30 },
});

const ask = (at: number, askId: string, input: string, more: object = {}): Event => ({
  type: "ask.received",
  at,
  askId,
  input,
  ...more,
});

type Told = Event | ((state: State) => Event);

/** Answers the first outstanding effect of a type. */
const answering =
  (type: AnswerableEffect["type"], answer: object): Told =>
  (state) => {
    const effect = outstanding(state).find((one) => one.type === type);
    const digest = effect?.type === "requestApproval" ? { digest: effect.digest } : {};
    // Cast: with its id, the answer is an event.
    return { ...answer, ...digest, effectId: effect?.id ?? "" } as Event;
  };

const story: readonly Told[] = [
  { type: "metadata.changed", at: 5, metadata: { of: ["a", "list"] } },
  ask(10, "a", "Where  is\nit?", { tools: [{ name: "ask_me" }] }),
  {
    type: "llm.failed",
    at: 20,
    effectId: "t/1.1#1",
    failure: { kind: "overloaded", message: "too busy", retryable: true },
  },
  answering("startTimer", { type: "timer.fired", at: 30 }),
  llm(40, "1.1#2", "Let me see.", "look", "look", "pay", "ask_me"),
  { type: "tool.started", at: 41, effectId: "t/1.1.0#1" },
  ask(42, "b", "And that?"),
  { type: "tool.completed", at: 50, effectId: "t/1.1.0#1", content: "found" },
  { type: "tool.failed", at: 55, effectId: "t/1.1.1#1", outcome: "failed", content: "not found" },
  { type: "tool.withheld", at: 60, effectId: "t/1.1.2#1", because: "declared", arguments: { n: 2 } },
  { type: "tool.completed", at: 65, effectId: "t/1.1.3#1", content: "Yes." },
];

const played = (events: readonly Told[]) => {
  const machine = conversationMachine(options);
  const begun = start(machine, { threadId: "t", at: 0, system: "Be kind." });
  const entries: Entry[] = [begun.entry];
  const states = [begun.state];
  for (const told of events) {
    const before = states.at(-1) ?? begun.state;
    const event = typeof told === "function" ? told(before) : told;
    const step = transition(machine, before, event);
    if (!step.handled) throw new Error(`${event.type}: ${step.refusal.reason}`);
    entries.push(step.entry);
    states.push(step.state);
  }
  const at = (seq: number) => states[seq] ?? begun.state;
  const rows = entries.map((entry, seq) => rowOf(entry, states[seq - 1] ?? null, at(seq)));
  return { entries, rows, state: at(states.length - 1), at };
};

const rest: readonly Told[] = [
  answering("requestApproval", { type: "approval.answered", at: 70, approved: true, by: "ann", reason: "fine" }),
  answering("callTool", { type: "tool.completed", at: 80, content: null }),
  llm(90, "1.2#1", "There."),
  answering("startTimer", { type: "timer.fired", at: 92 }),
  { type: "cancel.requested", at: 95, partial: { content: "No" } },
  { type: "checkpoint.named", at: 96, name: "here" },
  { type: "head.moved", at: 97, to: 1 },
  ask(98, "c", "And now?"),
  { type: "llm.failed", at: 99, effectId: "t/3.1#1", failure: { kind: "auth", message: "no key", retryable: false } },
];

// `vitest run PATH --update` rewrites the file. Only keep changes that you can explain.
test("a developer sees the entries, turns, branches and facts of a thread", async () => {
  const [early, late] = [played(story), played([...story, ...rest])];
  const rowsOf = ({ rows }: ReturnType<typeof played>) =>
    rows.map(({ seq, at, type, kind, turn, words, place, asks, marks }) =>
      [
        seq,
        `${at} ms`,
        type,
        kind,
        `turn ${turn}`,
        JSON.stringify(words),
        place,
        ...(asks ? ["asks"] : []),
        ...marks,
      ].join("; "),
    );
  const text = [
    ["rows", ...rowsOf(late)],
    ...[early, late].map((journal) => ["turn 1", turnView(journal, 1, 99)]),
    ["turn 2", turnView(late, 2, 99)],
    ["turn 3", turnView(late, 3, 99)],
    ["no turn", turnView(late, 9, 99)],
    ...[early, late].map(({ state, rows }) => [
      "thread",
      ...factsOf(state),
      figuresOf(state),
      overviewOf(state, rows.length),
      ...treeOf(state, rows),
    ]),
    ["difference", differenceOf(early.state, late.state)],
  ];
  const lines = text.flatMap(([title, ...parts]) => [
    `# ${JSON.stringify(title)}`,
    ...parts.flatMap((part) => {
      if (typeof part === "string") return part;
      const { spans = [], ...more } = (part ?? {}) as { readonly spans?: readonly object[] };
      return [
        JSON.stringify(Array.isArray(part) || part === null ? part : more),
        ...spans.map((span) => JSON.stringify(span)),
      ];
    }),
  ]);
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("projections.txt");
});

test.each([
  [[], "0 calls"],
  [[null], "1 call"],
  [[1_500], "1 call, 1,500 tokens in, 20 tokens out, 0.002 EUR"],
  [[1_500, null], "2 calls, ≥ 1,500 tokens in, ≥ 20 tokens out, ≥ 0.002 EUR"],
])("usageWords describes calls with %j input tokens as %s", (calls, words) => {
  const usages = calls.map((tokens) =>
    usageOfCall(
      tokens === null ? null : { inputTokens: tokens, outputTokens: 20 },
      tokens === null ? null : { nano: 2_000_000, currency: "EUR" },
    ),
  );
  expect(usageWords(usages.reduce((sum, usage) => usageMonoid.concat(sum, usage), noUsage))).toBe(words);
});
