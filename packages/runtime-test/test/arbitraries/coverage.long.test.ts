import { conversationMachine, type Event, type EventType, type Failure } from "@colloquy/machine";
import { keepAll, type Policy } from "@colloquy/machine/policies";
import { type Move, runSchedule, traceArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { coverageOf, coverageTable, type Leaf, leaves, type PairCoverage } from "../../src/arbitraries/coverage.ts";
import { runs } from "../laws/runs.ts";

// XState types the names of a machine's events as any text.
const events = conversationMachine().events as readonly EventType[];

const betweenTurns: readonly Leaf[] = ["idle", "completed", "error"];
const inTurn: readonly Leaf[] = ["responding", "compacting", "checking", "backing_off", "running", "awaiting_approval"];
const others = (...those: readonly Leaf[]): readonly Leaf[] => leaves.filter((leaf) => !those.includes(leaf));

/** Where an event is never handled, and why that is right. Whatever is not here must have been handled. */
const neverHandled: readonly { readonly event: EventType; readonly in: readonly Leaf[]; readonly because: string }[] = [
  ...(["llm.completed", "llm.failed"] as const).map((event) => ({
    event,
    in: ["idle"] as const,
    because: "no model call is out, and no turn has ended of which a summary could be",
  })),
  { event: "llm.progressed", in: others("responding"), because: "no answering call is out" },
  ...(["tool.started", "tool.withheld", "tool.completed", "tool.failed"] as const).map((event) => ({
    event,
    in: others("running"),
    because: "no tool call is out",
  })),
  ...(["output.accepted", "output.refused"] as const).map((event) => ({
    event,
    in: others("checking"),
    because: "no check is out",
  })),
  {
    event: "approval.answered",
    in: others("running", "awaiting_approval"),
    because: "nobody was asked whether a tool may run",
  },
  { event: "timer.fired", in: ["idle"], because: "nothing waits in the queue before the first turn" },
  ...(["turn.added", "answer.truncated", "head.moved", "checkpoint.named", "thread.redacted"] as const).map(
    (event) => ({
      event,
      in: inTurn,
      because: "the thread is edited between turns only",
    }),
  ),
  { event: "thread.forked", in: inTurn, because: "a copy begins where no turn is open" },
  { event: "cancel.requested", in: ["idle"], because: "nothing is open and nothing waits" },
];

const explained = ({ event, leaf }: PairCoverage): boolean =>
  neverHandled.some((row) => row.event === event && row.in.includes(leaf));

const named = ({ event, leaf }: PairCoverage): string => `${event} in ${leaf}`;

const ask: Move = { afterMs: 1, move: "ask", input: "Well?" };
const answer: Move = {
  afterMs: 1,
  move: "answer",
  pick: 0,
  reply: { content: "Yes." },
  finishReason: "stop",
  content: null,
};
const failure: Failure = { kind: "overloaded", message: "later", retryable: true };
const fail: Move = { afterMs: 1, move: "fail", pick: 0, failure, outcome: "failed", content: "" };
const failForGood: Move = { ...fail, failure: { ...failure, retryable: false } };
const tell = (event: Event): Move => ({ afterMs: 1, move: "send", event });

/** Answers to calls that were never made. */
const strays: readonly Move[] = [
  tell({ type: "tool.completed", at: 1, effectId: "never", content: null }),
  tell({ type: "tool.failed", at: 1, effectId: "never", outcome: "failed", content: "" }),
  tell({ type: "tool.started", at: 1, effectId: "never" }),
  tell({ type: "tool.withheld", at: 1, effectId: "never", because: "declared", arguments: null }),
  tell({ type: "approval.answered", at: 1, effectId: "never", approved: true }),
  tell({ type: "llm.completed", at: 1, effectId: "never", reply: {}, finishReason: null }),
  tell({ type: "llm.failed", at: 1, effectId: "never", failure }),
  tell({ type: "output.accepted", at: 1, effectId: "never", value: null }),
  tell({ type: "output.refused", at: 1, effectId: "never", issues: [] }),
  tell({ type: "llm.progressed", at: 1, effectId: "never", partial: {} }),
];

const hello: Move = { afterMs: 1, move: "append", message: { role: "user", content: "Hello." } };
const round: Move = {
  afterMs: 1,
  move: "appendRound",
  reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] },
  results: [{ outcome: "completed", content: "Found." }],
};
/** The first lets the journal rise. */
const rounds: readonly Move[] = [round, round];

/** Moves that random schedules hardly ever reach. */
const byHand: readonly (readonly Move[])[] = [
  [...rounds, { afterMs: 1, move: "moveHead", to: 0 }],
  [ask, fail, ...rounds, { afterMs: 1, move: "resetSystem" }, { afterMs: 1, move: "setMetadata", metadata: {} }],
  strays,
  [ask, fail, ...strays],
  [ask, answer, ...strays],
  [
    { afterMs: 1, move: "addTurn", messages: [{ role: "assistant", content: "Hello." }] },
    { afterMs: 1, move: "truncate", pick: 0, characters: 2 },
    { afterMs: 1, move: "annotate", pick: 0, name: "score", value: 1 },
    { afterMs: 1, move: "pin", pick: 0, pinned: true },
  ],
  [ask, ask, answer, { afterMs: 1, move: "cancel", whom: "queued" }],
  [ask, ask, failForGood, { afterMs: 1, move: "cancel", whom: "queued" }],
  [
    ask,
    answer,
    ask,
    fail,
    { afterMs: 1, move: "annotate", pick: 0, name: "score", value: 1 },
    { afterMs: 1, move: "addTurn", messages: [{ role: "user", content: "Hello." }] },
  ],
  [tell({ type: "thread.redacted", at: 1, seqs: [0] })],
];

/** Wants a summary of each turn, and shows everything all the same. */
const summingUp: Policy = {
  ...keepAll(),
  name: "sums-up",
  summariser: {
    instruction: "Sum up.",
    model: {},
    maxTokens: 100,
    next: ({ history }) => {
      const [newest] = history.newestFirst();
      if (newest === undefined || newest.summaries.length > 0) return null;
      return { covers: { from: newest.number, to: newest.number }, earlier: null };
    },
  },
};

const long: Move = { ...ask, input: "A long question. ".repeat(20) };
const mark: Move = { afterMs: 1, move: "checkpoint", name: "here" };
const useTool: Move = { ...answer, reply: { toolCalls: [{ id: null, name: "search", arguments: "{}" }] } };
const second = { pick: 1 } as const;

const edits: readonly Move[] = [
  { afterMs: 1, move: "resetSystem" },
  { afterMs: 1, move: "setMetadata", metadata: {} },
  { afterMs: 1, move: "moveHead", to: 0 },
  { afterMs: 1, move: "fork", pick: 0 },
  { afterMs: 1, move: "redact", pick: 0 },
  mark,
  { afterMs: 1, move: "changeSystem", system: "Be brief." },
  { afterMs: 1, move: "addTurn", messages: [{ role: "user", content: "Hello." }] },
  { afterMs: 1, move: "annotate", pick: 0, name: "score", value: 1 },
  { afterMs: 1, move: "truncate", pick: 0, characters: 2 },
  { afterMs: 1, move: "pin", pick: 0, pinned: true },
  { afterMs: 1, move: "reconfigure" },
];

/** With a summary out, in the states that wait for something else, or for it. */
const besideSummaries: readonly (readonly Move[])[] = [
  [ask, answer, ask, fail, mark, { ...answer, ...second }],
  [ask, answer, ask, fail, { ...fail, ...second }],
  [ask, answer, ask, useTool, { ...answer, ...second }],
  [ask, answer, ask, useTool, { ...fail, ...second }],
  [ask, answer, long, ...strays, mark, answer],
  [ask, answer, long, fail],
  [ask, answer, long, { ...ask, overlap: "interrupt" }],
  [ask, useTool, ...strays, ...edits],
  [ask, fail, ...edits],
  [ask, answer, long, ...edits, ...rounds, hello, { afterMs: 1, move: "cancel", whom: "open" }],
];

const forbidden: Move = {
  ...answer,
  reply: {
    toolCalls: [
      { id: null, name: "post", arguments: "{}" },
      { id: null, name: "post", arguments: "{}" },
    ],
  },
};

/** The runtime has validated the arguments of both. */
const withhold: Move = { afterMs: 1, move: "withhold", pick: 0, because: "declared", arguments: {} };
const asking: readonly Move[] = [ask, forbidden, withhold, withhold];

/** While somebody is asked whether a tool may run, and nothing runs beside that. */
const besideQuestions: readonly (readonly Move[])[] = [
  [...asking, ...edits, ...rounds, ...strays, hello],
  [...asking, { ...ask, overlap: "interrupt" }],
  [...asking, { afterMs: 1, move: "cancel", whom: "open" }],
  [...asking, { afterMs: 1, move: "fire", pick: 0, early: false }],
  [ask, answer, ...asking, ...edits, { ...answer, pick: 2 }],
  [ask, answer, ...asking, { ...fail, pick: 2 }],
];

const output = { name: "answer", schema: {}, mode: "native", repairs: 1 } as const;
const checking: readonly Move[] = [{ ...ask, output }, answer];

/** While an output is checked, and a summary is written beside that. */
const besideChecks: readonly (readonly Move[])[] = [
  [...checking, ...edits, ...rounds, ...strays, hello, answer],
  [...checking, { ...ask, overlap: "interrupt" }],
  [...checking, { afterMs: 1, move: "cancel", whom: "open" }],
  [...checking, { afterMs: 1, move: "fire", pick: 0, early: false }],
  [ask, answer, { ...ask, output }, answer, { ...answer, ...second }],
  [ask, answer, { ...ask, output }, answer, edits[8] ?? hello],
  [ask, answer, { ...ask, output }, answer, { ...fail, ...second }],
];

describe("states and events", () => {
  let coverage: readonly PairCoverage[] = [];
  beforeAll(() => {
    const machine = conversationMachine({ overlap: { type: "queue", max: 1 } });
    const summing = conversationMachine({
      policy: summingUp,
      budget: { tokens: 60, reserve: 0 },
      unknownTool: "ask",
    });
    const approving = conversationMachine({
      tools: [{ name: "post", approval: "always" }],
      policy: summingUp,
      limits: { deadlineMs: 10_000 },
    });
    const traces = [
      ...fc.sample(traceArbitrary(), { numRuns: Math.max(1_000, runs(1_000)), seed: 4 }),
      ...byHand.map((moves) => runSchedule(machine, { input: { threadId: "t", at: 0 }, moves })),
      ...besideQuestions.map((moves) => runSchedule(approving, { input: { threadId: "t", at: 0 }, moves })),
      ...besideChecks.map((moves) => runSchedule(approving, { input: { threadId: "t", at: 0 }, moves })),
      ...besideSummaries.map((moves) => runSchedule(summing, { input: { threadId: "t", at: 0 }, moves })),
    ];
    coverage = coverageOf(traces, events);
    console.log(`handled/told, of ${traces.length} schedules:\n${coverageTable(coverage)}`);
  });

  test("every event was told in every state", () => {
    expect(coverage.filter(({ sent }) => sent === 0).map(named)).toEqual([]);
  });

  test("every event was handled wherever nothing explains that it can't be", () => {
    expect(coverage.filter((pair) => pair.handled === 0 && !explained(pair)).map(named)).toEqual([]);
  });

  test("nothing is explained that does happen", () => {
    expect(coverage.filter((pair) => pair.handled > 0 && explained(pair)).map(named)).toEqual([]);
  });

  test("the table of explanations names states and events that there are", () => {
    expect(betweenTurns.length + inTurn.length).toBe(leaves.length);
    expect(neverHandled.filter(({ event }) => !events.includes(event))).toEqual([]);
  });
});
