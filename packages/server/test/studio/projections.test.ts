import {
  type AnswerableEffect,
  conversationMachine,
  type Entry,
  type Event,
  type MachineOptions,
  noUsage,
  outstanding,
  start,
  type State,
  transition,
  usageMonoid,
  usageOfCall,
} from "@colloquy/machine";
import { pricesPerMillion } from "@colloquy/machine/policies";
import { describe, expect, test } from "vitest";
import {
  differenceOf,
  factsOf,
  figuresOf,
  overviewOf,
  treeOf,
  usageWords,
} from "../../src/studio/projections/thread-views.ts";
import { beginning, rowOf } from "../../src/studio/projections/timeline-row.ts";
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

test("the waterfall of a turn shows that a call was denied", () => {
  const denied = { type: "approval.answered", at: 70, approved: false, by: "ann" };
  const journal = played([...story, answering("requestApproval", denied)]);
  const wait = turnView(journal, 1, 99)?.spans.find(({ name }) => name === "pay: approval");
  expect(wait).toMatchObject({ detail: "denied", failed: true, from: 60, until: 70 });
});

test("the facts of a thread count all asks that wait, and show a time that is none as its number", () => {
  const waiting = [ask(10, "a", "one"), ask(11, "b", "two"), ask(12, "c", "three")];
  expect(Object.fromEntries(factsOf(played(waiting).state))["waiting"]).toBe("2 asks");
  expect(Object.fromEntries(factsOf(played(waiting.slice(0, 2)).state))["waiting"]).toBe("1 ask");
  expect(Object.fromEntries(factsOf(played([ask(1e20, "a", "one")]).state))["time"]).toBe("100000000000000000000");
});

test("the difference of two threads shows at most 100 messages of each", () => {
  const machine = conversationMachine(options);
  const seeded = (name: string) =>
    start(machine, {
      threadId: name,
      at: 0,
      seed: Array.from({ length: 102 }, (_, index) => ({
        role: "user" as const,
        content: index === 0 ? "Hello" : `${name} ${index}`,
      })),
    }).state;
  const { alike, left, right } = differenceOf(seeded("a"), seeded("b"));
  const textsIn = (messages: typeof left) =>
    messages.map(({ parts }) => parts.map((part) => "text" in part && part.text).join());
  expect(alike).toBe(1);
  expect([left, right].map((messages) => [textsIn(messages).at(0), textsIn(messages).at(-1)])).toEqual([
    ["a 1", "a 100"],
    ["b 1", "b 100"],
  ]);
});

describe("a row of the timeline", () => {
  const quiet = start(conversationMachine(options), { threadId: "t", at: 0 }).state;

  const asked = played([ask(10, "a", "Hi")]).state;

  test.each([null, "1"])("of a reply with a foreign member turn, %j, has the turn that is open", (turn) => {
    const reply = { type: "llm.completed", at: 1, effectId: "t/1.1#1", reply: { content: "yes" }, turn };
    // Cast: only the members of a row are read of an event.
    expect(rowOf({ seq: 2, event: reply } as unknown as Entry, asked, asked).turn).toBe(1);
  });

  /** Makes the row of an event that is journalled with these decisions and marks. */
  const rowWith = (event: object, more: object = {}, before: State | null = quiet) =>
    // Cast: only the members of a row are read of an event.
    rowOf({ seq: 1, event: { at: 1, ...event }, ...more } as Entry, before, quiet);
  const summary = { effectId: "t/summary-1#1", reply: { content: "short" } };
  const reply = { effectId: "t/1.1#1", reply: { content: "yes" } };

  test.each<readonly [object, object, readonly string[]]>([
    [{}, {}, []],
    [{}, { redacted: true }, ["redacted"]],
    [{}, { redacted: false, recovered: false }, []],
    [{}, { recovered: true }, ["recovered"]],
    [{ type: "llm.completed", ...summary }, {}, ["summary"]],
    [{ type: "llm.completed", ...reply }, {}, []],
    [{ type: "llm.failed", ...summary, failure: { message: "no" } }, {}, ["summary"]],
    [{ type: "tool.started", ...summary }, {}, []],
    [{}, { decided: { queued: 1 } }, ["queued"]],
    [{}, { decided: { joins: true, interrupts: true } }, ["steers", "interrupts"]],
    [{}, { decided: { joins: false, interrupts: false } }, []],
    [{}, { decided: { cut: { from: null } } }, []],
    ...[{ from: 1 }, ...["dropped", "shrink", "fields", "system"].map((name) => ({ from: null, [name]: [] }))].map(
      (cut) => [{}, { decided: { cut } }, ["cut"]] as const,
    ),
    [{}, { decided: { summary: {}, compacting: {} } }, ["summary asked", "waits for summary"]],
    [{}, { decided: { retry: {}, limit: "steps" } }, ["retry", "limit"]],
    [{}, { decided: { unfit: {}, policyFailed: "no" } }, ["does not fit", "policy failed"]],
    [{}, { decided: { fullness: { is: "within" } } }, []],
    [{}, { decided: { fullness: { is: "over" } } }, ["nearly full"]],
  ])("of %j with %j has the marks %j", (event, more, marks) => {
    expect(rowWith({ type: "timer.fired", ...event }, more).marks).toEqual(marks);
  });

  test.each<readonly [object, string, string]>([
    [{ type: "ask.received", input: "hi" }, "user", "hi"],
    [{ type: "ask.received", input: [{ type: "text", text: "a" }] }, "user", "a"],
    [
      {
        type: "ask.received",
        input: [
          { role: "user", content: "a" },
          { role: "user", content: "b" },
        ],
      },
      "user",
      "a b",
    ],
    [{ type: "message.appended", message: { role: "user", content: "more" } }, "user", "more"],
    [{ type: "llm.completed", ...reply }, "assistant", "yes"],
    [{ type: "llm.completed", ...summary }, "system", "short"],
    [{ type: "llm.progressed", effectId: "t/1.1#1", partial: { content: "so f" } }, "assistant", "so f"],
    [
      { type: "llm.completed", effectId: "t/1.1#1", reply: { toolCalls: [{ name: "look", arguments: "{}" }] } },
      "assistant",
      "look({})",
    ],
    [
      {
        type: "llm.completed",
        effectId: "t/1.1#1",
        reply: {
          content: [
            { type: "reasoning", text: "Hm." },
            { type: "image", url: "u" },
            { type: "text", text: "Yes" },
          ],
        },
      },
      "assistant",
      "Hm. [image] Yes",
    ],
    [{ type: "llm.failed", effectId: "t/1.1#1", failure: { message: "too busy" } }, "failure", "too busy"],
    [{ type: "output.accepted", effectId: "t/1.1!1" }, "assistant", "effectId t/1.1!1"],
    [{ type: "output.refused", effectId: "t/1.1!1" }, "failure", "effectId t/1.1!1"],
    [{ type: "tool.started", effectId: "t/1.1.0#1" }, "tool", "t/1.1.0#1"],
    [{ type: "tool.completed", effectId: "t/1.1.0#1", content: "found" }, "tool", "t/1.1.0#1 → found"],
    [{ type: "tool.completed", effectId: "t/1.1.0#1", content: null }, "tool", "t/1.1.0#1 →"],
    [{ type: "tool.failed", effectId: "t/1.1.0#1", content: "not found" }, "failure", "t/1.1.0#1 → not found"],
    [{ type: "tool.withheld", effectId: "t/1.1.0#1" }, "approval", "t/1.1.0#1 waits for approval"],
    [{ type: "approval.answered", effectId: "t/1.1.0!1", approved: true }, "approval", "t/1.1.0!1 approved"],
    [
      { type: "approval.answered", effectId: "t/1.1.0!1", approved: false, by: "ann", reason: "too dear" },
      "approval",
      "t/1.1.0!1 denied by ann: too dear",
    ],
    [{ type: "thread.started", threadId: "t" }, "system", "t"],
    [{ type: "thread.started", threadId: "t", system: "Be kind." }, "system", "Be kind."],
    [{ type: "system.changed", system: null }, "system", "none"],
    [{ type: "system.changed", system: { role: "developer", content: "Be brief." } }, "system", "Be brief."],
    [{ type: "timer.fired", effectId: "t/timer", at: 1 }, "other", "effectId t/timer"],
    [{ type: "metadata.changed", metadata: { a: 1 }, by: "ann" }, "other", 'metadata {"a":1}, by ann'],
  ])("of %j is of the kind %s and shows %j", (event, kind, words) => {
    expect(rowWith(event)).toMatchObject({ seq: 1, kind, words, turn: null });
    expect(rowWith(event, { redacted: true }).words).toBe("");
  });

  test("is of the turn that its event names, adds, ends or opens", () => {
    const [before, open] = [played([]).state, played([ask(10, "a", "hi")]).state];
    const closed = played([ask(10, "a", "hi"), llm(20, "1.1#1", "yes")]).state;
    const turnOf = (event: object, from: State | null, to: State): number | null =>
      // Cast: only its type and turn are read.
      rowOf({ seq: 1, event: { at: 1, ...event } } as Entry, from, to).turn;
    expect([
      turnOf({ type: "turn.annotated", turn: 7 }, closed, closed),
      turnOf({ type: "turn.added" }, before, closed),
      turnOf({ type: "ask.received", input: "" }, before, open),
      turnOf({ type: "ask.received", input: "" }, null, open),
      turnOf({ type: "llm.completed", effectId: "t/1.1#1", reply: {} }, open, closed),
      turnOf({ type: "timer.fired" }, before, open),
      turnOf({ type: "timer.fired" }, closed, closed),
    ]).toEqual([7, 1, 1, 1, 1, 1, null]);
  });

  test.each([
    ["  two\n\twords ", 200, "two words"],
    ["x".repeat(201), 200, "x".repeat(200)],
    ["abcdef", 3, "abc"],
    [`${" ".repeat(5)}abc`, 3, "a"],
    ["ab😀", 3, "ab\ufffd"],
  ])("begins a text %j in one line of at most %i characters", (text, most, expected) => {
    expect(beginning(text, most)).toBe(expected);
    expect(beginning("x".repeat(300))).toHaveLength(200);
  });
});
