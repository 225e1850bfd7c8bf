import {
  accepted,
  added,
  answered,
  approved,
  ask,
  calling,
  cancelled,
  failed,
  fired,
  found,
  movedTo,
  pinned,
  progressed,
  round,
  started,
  user,
  withheld,
} from "./stories/events.ts";
import type { JournalScript } from "./journal-vector.ts";
import { begun, configuration, everything, output, placed, type Placeless } from "./placed.ts";

/** Journals that no machine writes, or hardly ever one: folding takes what stands there. */
export const forgedJournals = (): readonly JournalScript[] => [
  ...doesNotFit.map(([leaf, entries]) => ({
    name: `what-does-not-fit-in-${leaf}`,
    says: "An entry that does not fit what was before it counts, and changes nothing else.",
    entries: placed(entries),
  })),
  {
    name: "what-was-decided-otherwise",
    says: "What was decided is what folding goes by, also where no machine would decide it.",
    entries: placed(decidedOtherwise),
  },
  {
    name: "all-that-may-be-decided",
    says: "An entry with all members that a decision has, where they decide nothing.",
    entries: placed([
      begun,
      { event: { type: "metadata.changed", metadata: {} }, decided: ofAllKinds },
      // Members that are none of these events.
      { event: { type: "metadata.changed", metadata: {}, format: "x", limits: { steps: -1 } } },
      { event: { type: "metadata.changed", metadata: {}, format: 99 } },
      { event: { type: "thread.configured", configuration } },
    ]),
  },
  ...wrongDecisions.map(([name, says, decided]) => ({
    name: `refused-decided-${name}`,
    says,
    entries: placed([begun, { event: { type: "metadata.changed", metadata: {} }, decided }]),
  })),
  {
    name: "copied-under-another-id",
    says: "A journal that was copied under another id folds all the same: of an effect's id only what follows the last slash counts.",
    entries: placed(copied),
  },
  {
    name: "summaries-whose-words-went",
    says: "A summary of whose words nothing is left is stale; one that says something else, too, is not.",
    entries: placed(summariesRedacted),
  },
  {
    name: "summaries-of-what-was-truncated",
    says: "Summaries on the path of a turn whose answer was truncated, and that tell of it, are stale.",
    entries: placed(summariesTruncated),
  },
  {
    name: "waits-for-another-summary",
    says: "A call waits on where one summary was not enough.",
    entries: placed(waitsForSummaries.slice(0, 5)),
  },
  {
    name: "waits-for-summaries",
    says: "A call waits on where one summary was not enough; it goes without one when none is written any more, or none came in time.",
    entries: placed(waitsForSummaries),
  },
];

const interruptedAt = (position: number): object => ({ position, outcome: "interrupted", content: [] });
const position = { turn: 0, unit: 0 };
const shrunk = { rule: "headAndTail", of: "messages", characters: 200 };
const ofAllKinds = {
  opens: 1,
  approvals: [0],
  deadlineAt: 0,
  cut: {
    ...everything,
    from: position,
    dropped: ["system"],
    summarised: { from: 1, to: 1, upTo: 1 },
    shrink: [{ ...shrunk, before: position, tool: "read" }],
    fields: { omit: ["a"], inputs: ["b"] },
    system: "omit",
    interrupted: "omit",
    calibration: 0.5,
  },
  retry: { attempt: 0, dueAt: 0 },
  unchecked: "refused",
  results: ["failed", "refused", "interrupted", "unknown"].map((outcome) => ({ ...interruptedAt(0), outcome })),
  limit: { limit: "tokens", allowed: 1, reached: 1 },
  fullness: { is: "within", tokens: 0, available: 0 },
  counted: 0,
  cost: { nano: -1, currency: "USD" },
  kept: 0,
};

const wrongDecisions: readonly (readonly [name: string, says: string, decided: object])[] = [
  ["unknown-member", "A decision that nobody knows.", { mood: "good" }],
  ["opens-none", "A turn that answers no ask.", { opens: 0 }],
  ["counted-below-0", "A prompt of fewer than no tokens.", { counted: -1 }],
  ["cost-in-parts", "A cost of less than the smallest unit.", { cost: { nano: 0.5, currency: "USD" } }],
  ["calibration-of-0", "A counter that is off by any factor.", { cut: { ...everything, calibration: 0 } }],
  [
    "turns-backwards",
    "Summarised turns that end before they begin.",
    { cut: { ...everything, summarised: { from: 2, to: 1, upTo: 2 } } },
  ],
  [
    "shrunk-to-less",
    "Messages that are shrunk to less than is ever shown.",
    { cut: { ...everything, shrink: [{ ...shrunk, characters: 199 }] } },
  ],
  [
    "unknown-outcome",
    "A result that was decided to be had.",
    { results: [{ ...interruptedAt(0), outcome: "completed" }] },
  ],
];

/** Returns answers to effects that no place in a turn has outstanding. */
const straysIn = (turn: number): readonly Placeless[] =>
  [
    answered(`t/${turn}.9#1`),
    failed(`t/${turn}.9#1`),
    progressed(`t/${turn}.9#1`, { content: "x" }),
    accepted(`t/${turn}.9!output`),
    started(`t/${turn}.9.0#1`),
    found(`t/${turn}.9.0#1`),
    withheld(`t/${turn}.9.0#1`),
    approved(`t/${turn}.1.0!approval-9`),
    fired(`t/${turn}!deadline`),
    fired(`t/${turn}.1#9!retry`),
    fired(`t/${turn}.1#9!summary`),
    fired("t/999!queue"),
  ].map((event) => ({ event }));

/** Into each state of the chart, one after the other: the name of a state stands before what leads there. */
const stages: readonly (readonly [leaf: string, turn: number, ...entries: Placeless[]])[] = [
  ["idle", 1, { event: { type: "thread.configured", configuration } }],
  ["responding", 1, { event: ask("a"), decided: { cut: everything } }],
  ["backing-off", 1, { event: failed("t/1.1#1"), decided: { retry: { attempt: 2, dueAt: 99 } } }],
  ["compacting", 1, { event: fired("t/1.1#2!retry"), decided: { compacting: { dueAt: 99 } } }],
  ["running", 1, { event: fired("t/1.1#2!summary") }, { event: calling("t/1.1#2", "look", "pay", "look") }],
  [
    "awaiting-approval",
    1,
    { event: found("t/1.1.0#1") },
    { event: started("t/1.1.0#1") },
    { event: withheld("t/1.1.1#1") },
    { event: withheld("t/1.1.2#1") },
  ],
  // Results also for a call that has one, and none for one that has not.
  [
    "error",
    1,
    { event: ask("b"), decided: { queued: 1 } },
    { event: cancelled("a"), decided: { results: [0, 1].map(interruptedAt) } },
  ],
  ["running-again", 2, { event: fired("t/12!queue") }, { event: calling("t/2.1#1", "look") }],
  ["error-again", 2, { event: cancelled() }, { event: cancelled() }, { event: cancelled("a") }],
];

const doesNotFit: readonly (readonly [leaf: string, entries: readonly Placeless[]])[] = stages.map(
  ([leaf, turn], index) => [
    leaf,
    [begun, ...stages.slice(0, index + 1).flatMap(([, , ...entries]) => entries), ...straysIn(turn)],
  ],
);

const decidedOtherwise: readonly Placeless[] = [
  begun,
  { event: ask("a"), decided: {} },
  { event: ask("b"), decided: {} },
  { event: { ...answered("t/1.1#1"), at: 9 }, decided: { goesOn: true } },
  { event: ask("c"), decided: { queued: 7 } },
  { event: ask("d"), decided: { queued: 2 } },
  { event: { type: "cancel.requested", askId: "nobody" } },
  { event: fired("t/6!queue"), decided: { opens: 9 } },
  { event: calling("t/2.1#1", "look"), decided: { goesOn: true } },
  { event: cancelled() },
  { event: { type: "answer.truncated", turn: 9, characters: 2 }, decided: { kept: 1 } },
  { event: added({ role: "tool", toolCallId: "call_0", content: "x" }) },
  { event: { type: "answer.truncated", turn: 3, characters: 2 }, decided: { kept: 1 } },
  { event: { type: "answer.truncated", turn: 1, characters: 2 }, decided: { kept: 1 } },
  { event: { type: "head.moved", to: 7 } },
  { event: { type: "head.moved", to: { checkpoint: "nowhere" } } },
  { event: pinned("nowhere") },
  { event: { type: "turn.annotated", turn: 7, name: "score", value: 1 } },
  { event: { type: "thread.configured", configuration } },
  { event: { ...round("look"), results: [] } },
  { event: { type: "ask.received", askId: "e", input: "x", output } },
  { event: { type: "output.accepted", effectId: "t/4.1!output", value: {} } },
  { event: { ...answered("t/4.1#1"), finishReason: null }, decided: { unchecked: "cut" } },
  { event: { type: "output.accepted", effectId: "t/4.1!output", value: {} } },
  { event: { type: "ask.received", askId: "f", input: "x", output } },
  { event: answered("t/5.1#1") },
  { event: { type: "output.accepted", effectId: "t/5.2!output", value: {} } },
  { event: { type: "output.refused", effectId: "t/5.1!output", issues: [] }, decided: { goesOn: true } },
];

const copied: readonly Placeless[] = [
  { ...begun, event: { ...begun.event, threadId: "a/copy" } },
  { event: ask("a"), decided: { cut: everything } },
  { event: ask("b"), decided: { queued: 1 } },
  { event: calling("t/1.1#1", "look", "pay") },
  { event: started("u/v/1.1.0#1") },
  { event: found("1.1.0#1") },
  { event: withheld("t/1.1.1#1") },
  { event: approved("t/1.1.1!approval-1") },
  { event: found("t/1.1.1#2") },
  { event: failed("t/1.2#1"), decided: { retry: { attempt: 2, dueAt: 99 } } },
  { event: fired("t/1.2#2!retry") },
  { event: answered("t/1.2#2") },
  { event: fired("t/11!queue") },
  { event: progressed("t/2.1#1", { content: "Y" }) },
];

const summaryOf = (from: number, to: number): object => ({ summary: { covers: { from, to }, earlier: null } });
const noted: Placeless = { event: { type: "metadata.changed", metadata: {} } };

const summariesRedacted: readonly Placeless[] = [
  begun,
  { event: added(user("Once."), { role: "assistant", content: "Yes." }) },
  { event: added(user("Twice.")) },
  { ...noted, decided: summaryOf(1, 1) },
  { event: answered("t/summary-1#1", "[redacted]\n[redacted]") },
  { ...noted, decided: summaryOf(1, 2) },
  { event: answered("t/summary-2#1", "[redacted], and more") },
  { ...noted, decided: summaryOf(2, 2) },
  { event: answered("t/summary-3#1", "[redacted]") },
  { event: { type: "thread.redacted", seqs: [1] } },
  { ...noted, decided: summaryOf(1, 1) },
  { event: answered("t/summary-4#1", "Once.") },
  { event: { type: "thread.redacted", seqs: [2] } },
  { event: { type: "thread.redacted", seqs: [1] } },
];

const summariesTruncated: readonly Placeless[] = [
  ...summariesRedacted,
  { event: movedTo(0) },
  { event: added(user("Elsewhere.")) },
  { ...noted, decided: summaryOf(0, 3) },
  { event: answered("t/summary-5#1", "Elsewhere.") },
  { ...noted, decided: summaryOf(3, 3) },
  { event: answered("t/summary-6#1", "Elsewhere.") },
  { event: { type: "answer.truncated", turn: 1, characters: 1 }, decided: { kept: 1 } },
  { event: { type: "answer.truncated", turn: 1, characters: 0 }, decided: {} },
];

const unfit = { covers: { from: 1, to: 4 }, earlier: { from: 1, to: 2 } };
const waits = { compacting: { dueAt: 99 } };

const withSummariser = {
  ...configuration,
  model: { model: "m", temperature: 0, top: 1 },
  idleTimeoutMs: 9,
  summariser: { instruction: "Sum it up.", model: { model: "s" } },
};

const waitsForSummaries: readonly Placeless[] = [
  { ...begun, event: { ...begun.event, configuration: withSummariser, model: { temperature: 1 } } },
  { event: added(user("Once.")) },
  { event: added(user("Twice.")) },
  { event: ask("a"), decided: { ...waits, ...summaryOf(1, 1) } },
  { event: answered("t/summary-1#1", "Once."), decided: { ...waits, ...summaryOf(1, 2) } },
  { event: answered("t/summary-2#1", "Both."), decided: { cut: everything } },
  { event: failed("t/3.1#1"), decided: { retry: { attempt: 2, dueAt: 9 } } },
  { event: fired("t/3.1#2!retry"), decided: { ...waits, ...summaryOf(2, 2) } },
  { event: fired("t/3.1#2!summary"), decided: { cut: everything } },
  // It comes too late.
  { event: answered("t/summary-3#1", "Twice.") },
  { event: answered("t/3.1#2") },
  { event: ask("b"), decided: waits },
  { event: fired("t/4.1#1!summary"), decided: { cut: everything } },
  { event: answered("t/4.1#1") },
  { ...noted, decided: { summary: { ...unfit, unfit: { tokens: 9, available: 8 } } } },
  { ...noted, decided: { summary: { ...unfit, covers: { from: 3, to: 4 } } } },
  { event: failed("t/summary-5#1", { retryable: false }) },
  { event: ask("c"), decided: { ...waits, ...summaryOf(1, 3) } },
  { event: cancelled() },
];
