import {
  conversationMachine,
  type Entry,
  type Event,
  type Signal,
  start,
  type State,
  type ToolDeclaration,
  transition,
  usageMonoid,
} from "@colloquy/machine";
import { handledSteps, traceArbitrary } from "@colloquy/runtime-test/arbitraries";
import { type HostLogItem, LawBroken, lawNothingBeforeJournal, lawRecovery } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../runs.ts";

const noRoom = { tokens: 9, available: 1, budget: 1, reserve: 0, fixed: 9, largest: null };

describe("R1: nothing is performed before it is journalled", () => {
  const traces = traceArbitrary().map((trace): readonly HostLogItem[] => [
    { did: "appended", entry: trace.started.entry },
    ...handledSteps(trace).flatMap(({ transition: { entry, effects } }): readonly HostLogItem[] => [
      { did: "appended", entry },
      ...effects.map((effect): HostLogItem => ({ did: "performed", effect })),
    ]),
  ]);

  test("holds for a host that appends first", () => {
    fc.assert(fc.property(traces, lawNothingBeforeJournal), { numRuns: runs(60) });
  });

  test("holds for a host that reloads its journal and performs an effect that is still outstanding", () => {
    const [loaded, out] = [toolRun("rerun").slice(0, 3), toolEffect()];
    lawNothingBeforeJournal([
      { did: "loaded", entries: loaded },
      { did: "performed", effect: out },
    ]);
  });

  test("catches a host that performs first", () => {
    const early = (log: readonly HostLogItem[]) => {
      const swapped = log.findIndex((item, index) => item.did === "appended" && isNews(log[index + 1]));
      fc.pre(swapped >= 0);
      expect(() =>
        lawNothingBeforeJournal(log.toSpliced(swapped, 2, ...log.slice(swapped, swapped + 2).reverse())),
      ).toThrow(LawBroken);
    };
    fc.assert(fc.property(traces, early), { numRuns: runs(60) });
  });

  const place = { turn: 7, step: 1 };
  const call = { ...place, attempt: 1, purpose: "answer" } as const;

  test.each<readonly [string, Signal]>([
    [
      "a wrong size of the thread",
      { type: "thread.updated", turns: 7, messages: 7, characters: 0, usage: usageMonoid.empty },
    ],
    ["a reply to a call that was never made", { ...call, type: "model.replied", finishReason: "stop", toolCalls: 0 }],
    ["the failure of a call that was never made", { ...call, type: "model.failed", failure: "timeout" }],
    [
      "the end of a tool that never ran",
      { ...place, type: "tool.ended", position: 0, name: "x", outcome: "completed" },
    ],
    [
      "a warning of a limit that was never reached",
      { type: "context.warning", warning: "at_limit", messages: 3, tokens: 9, available: 9 },
    ],
    [
      "the start of a summary that was never requested",
      { type: "summary.started", number: 1, covers: { from: 1, to: 1 } },
    ],
    [
      "the end of a summary that was never requested",
      { type: "summary.completed", number: 1, covers: { from: 1, to: 1 } },
    ],
    [
      "the failure of a summary that was never requested",
      { type: "summary.failed", number: 1, covers: { from: 1, to: 1 }, reason: "" },
    ],
    ["a prompt that did not fit, in a turn that completed", { type: "context.unfit", turn: 1, unfit: noRoom }],
  ])("catches a host that publishes %s", (_, signal) => {
    const log: readonly HostLogItem[] = [
      { did: "loaded", entries: toolRun("rerun") },
      { did: "performed", effect: { type: "publish", signal } },
    ];
    expect(() => lawNothingBeforeJournal(log)).toThrow(/R1: item 1 of the log: the journal does not bear out/);
  });

  test("catches a host that performs a call with other arguments than it journalled", () => {
    const log: readonly HostLogItem[] = [
      { did: "loaded", entries: toolRun("rerun").slice(0, 3) },
      { did: "performed", effect: { ...toolEffect(), arguments: "{}" } },
    ];
    expect(() => lawNothingBeforeJournal(log)).toThrow(/arguments: expected "1", got "\{\}"/);
  });
});

/**
 * Returns whether performing an item before its entry surely breaks the law. Signals other than the start and the end
 * of a turn, such as sizes and warnings, may already be true one entry earlier.
 */
function isNews(item: HostLogItem | undefined): boolean {
  if (item?.did !== "performed") return false;
  const { effect } = item;
  return effect.type !== "publish" || effect.signal.type === "turn.started" || effect.signal.type === "turn.ended";
}

describe("R2: a crash changes nothing but what it must", () => {
  const tools = (recovery: ToolDeclaration["recovery"]): readonly ToolDeclaration[] => [
    { name: "pay", ...(recovery === undefined ? {} : { recovery }) },
  ];
  const id = toolEffect().id;

  test("accepts the same journal at another time, without recovered entries", () => {
    lawRecovery({
      uncrashed: toolRun("rerun"),
      resumed: toolRun("rerun", { at: 99 }),
      tools: tools("rerun"),
      ran: [id, id],
    });
  });

  test("accepts that a tool without a declared recovery is reported as interrupted", () => {
    const resumed = toolRun(undefined, { recovered: "interrupted" });
    lawRecovery({ uncrashed: toolRun(undefined), resumed, tools: tools(undefined), ran: [id] });
  });

  test("accepts an unknown outcome of a once-only tool that had started", () => {
    const resumed = toolRun("once", { recovered: "unknown", started: true });
    lawRecovery({ uncrashed: toolRun("once", { started: true }), resumed, tools: tools("once"), ran: [id] });
  });

  test("accepts a call after a recovered entry whose answer is the same as without the crash", () => {
    const uncrashed = twoCalls({ recovered: false, content: "paid" });
    const resumed = twoCalls({ recovered: true, content: "paid" });
    lawRecovery({ uncrashed, resumed, tools: tools(undefined), ran: ["t/1.1.0#1", "t/1.2.0#1"] });
  });

  test.each([
    [
      "a different answer without a recovered entry",
      { resumed: toolRun("rerun", { answer: "other" }) },
      /entry 4 is another/,
    ],
    ["a missing entry", { resumed: toolRun("rerun").slice(0, -1) }, /entry 4 is another/],
    [
      "a rerun tool that was not run again",
      { resumed: toolRun("rerun", { recovered: "interrupted" }) },
      /\(rerun\) is interrupted; it should run/,
    ],
    [
      "a once-only tool that never started and is not run",
      { resumed: toolRun("once", { recovered: "unknown" }), uncrashed: toolRun("once"), tools: tools("once") },
      /\(once\) is unknown; it should run/,
    ],
    [
      "a once-only tool that had started and is reported as failed",
      {
        resumed: toolRun("once", { recovered: "failed", started: true }),
        uncrashed: toolRun("once", { started: true }),
        tools: tools("once"),
      },
      /\(once, started\) is failed; it should be unknown/,
    ],
    ["a once-only tool that ran twice", { ran: [id, id], tools: tools("once") }, /ran 2 times/],
    [
      "an interrupted tool that ran twice",
      {
        uncrashed: toolRun(undefined),
        resumed: toolRun(undefined, { recovered: "interrupted" }),
        tools: tools(undefined),
        ran: [id, id],
      },
      /is not to be run again, ran 2 times/,
    ],
    [
      "a turn that is left open after a recovered entry",
      {
        uncrashed: toolRun(undefined),
        resumed: toolRun(undefined, { recovered: "interrupted" }).slice(0, -1),
        tools: tools(undefined),
      },
      /after the crash there is still something outstanding/,
    ],
    [
      "an ask that is lost after a recovered entry",
      {
        uncrashed: [...toolRun(undefined), anotherAsk(5)],
        resumed: toolRun(undefined, { recovered: "interrupted" }),
        tools: tools(undefined),
      },
      /ask "b" stands at place 1 without the crash, and not after it/,
    ],
    [
      "a tool that answers the same call differently after a recovered entry",
      {
        uncrashed: twoCalls({ recovered: false, content: "paid" }),
        resumed: twoCalls({ recovered: true, content: "paid twice" }),
        tools: tools(undefined),
      },
      /answers pay\(2\) with completed "paid twice"; without the crash it is completed "paid"/,
    ],
  ] as const)("catches %s", (_, parts, words) => {
    const run = { uncrashed: toolRun("rerun"), resumed: toolRun("rerun"), tools: tools("rerun"), ran: [id], ...parts };
    expect(() => lawRecovery(run)).toThrow(words);
  });
});

/**
 * Returns the journal of one ask with two calls of `pay`. If `recovered`, recovery ends the first call. The second call
 * returns `content`.
 */
function twoCalls({ recovered, content }: { readonly recovered: boolean; readonly content: string }): readonly Entry[] {
  const [first, second] = ["t/1.1.0#1", "t/1.2.0#1"];
  const outcome: readonly [Event, object] = recovered
    ? [{ type: "tool.failed", at: 0, effectId: first, outcome: "interrupted", content: "?" }, { recovered: true }]
    : [{ type: "tool.completed", at: 0, effectId: first, content: "paid" }, {}];
  return journalOf([{ name: "pay" }], 0, [
    [paying("t/1.1#1", "1")],
    outcome,
    [paying("t/1.2#1", "2")],
    [{ type: "tool.completed", at: 0, effectId: second, content }],
    [{ type: "llm.completed", at: 0, effectId: "t/1.3#1", reply: { content: "Done." }, finishReason: "stop" }],
  ]);
}

function anotherAsk(seq: number): Entry {
  return { seq, event: { type: "ask.received", at: 0, askId: "b", input: "And now?" } };
}

function paying(effectId: string, written: string, at = 0): Event {
  const reply = { toolCalls: [{ id: null, name: "pay", arguments: written }] };
  return { type: "llm.completed", at, effectId, reply, finishReason: null };
}

/**
 * Returns the journal of one ask whose only tool call ends as given. The outcome of the tool is entry 3, or entry 4 if
 * the tool was journalled as started.
 */
function toolRun(
  recovery: ToolDeclaration["recovery"],
  how: {
    readonly at?: number;
    readonly answer?: string;
    readonly started?: boolean;
    readonly recovered?: "interrupted" | "unknown" | "failed";
  } = {},
): readonly Entry[] {
  const { at = 0, answer = "Done.", started = false, recovered } = how;
  const effectId = "t/1.1.0#1";
  return journalOf([{ name: "pay", ...(recovery === undefined ? {} : { recovery }) }], at, [
    [paying("t/1.1#1", "1", at)],
    ...(started ? [[{ type: "tool.started", at, effectId }] as const] : []),
    recovered === undefined
      ? [{ type: "tool.completed", at, effectId, content: "paid" }]
      : [{ type: "tool.failed", at, effectId, outcome: recovered, content: "?" }, { recovered: true }],
    [{ type: "llm.completed", at, effectId: "t/1.2#1", reply: { content: answer }, finishReason: "stop" }],
  ]);
}

/** Returns the journal of one ask and these later events, each with its options of `transition`. */
function journalOf(
  tools: readonly ToolDeclaration[],
  at: number,
  events: readonly (readonly [Event, object?])[],
): readonly Entry[] {
  const machine = conversationMachine({ tools });
  const begun = start(machine, { threadId: "t", at });
  const entries: Entry[] = [begun.entry];
  let state: State = begun.state;
  for (const [event, options] of [[{ type: "ask.received", at, askId: "a", input: "Pay." }] as const, ...events]) {
    const result = transition(machine, state, event, options);
    if (!result.handled) throw new Error(result.refusal.reason);
    entries.push(result.entry);
    state = result.state;
  }
  return entries;
}

function toolEffect() {
  return {
    type: "callTool",
    id: "t/1.1.0#1",
    threadId: "t",
    turn: 1,
    step: 1,
    position: 0,
    attempt: 1,
    callId: "1.1.0",
    providerCallId: null,
    name: "pay",
    arguments: "1",
    started: false,
    approval: null,
  } as const;
}
