import { added, answered, appended, ask, calling, fired, found, movedTo, pinned, round, user } from "./events.ts";
import type { JournalScript } from "./journal-vector.ts";
import { vectorOf } from "./record.ts";
import { scriptOfStory, type Story } from "./story.ts";

/** Journals that are made for what they show: some by the machine, others as nobody makes them any more, or never did. */
export const toldJournals = (): readonly JournalScript[] => [
  {
    name: "asks-before-their-format",
    says: "In format 1 an ask had no tools, output or place of its own: members of these names were none that anybody knew.",
    entries: numbered(asksBeforeTheirFormat),
  },
  {
    name: "forked-while-asks-join",
    says: "A copy of a thread begins without the asks that were open, joined or waited there.",
    entries: numbered([...entriesOf(joined), { event: { type: "thread.forked", from: { threadId: "s", turn: 1 } } }]),
  },
  {
    name: "what-does-not-fit",
    says: "An entry that does not fit what was before it counts, and changes nothing else.",
    entries: numbered([...entriesOf(underWay), ...strays.map((event) => ({ event })), ...stops]),
  },
  {
    name: "what-was-decided-otherwise",
    says: "What was decided is what folding goes by, also where no machine would decide it.",
    entries: numbered(decidedOtherwise),
  },
  {
    name: "many-dropped-asks",
    says: "Of the asks that no turn answers the newest 256 are known.",
    entries: numbered([
      begun,
      { event: { type: "ask.received", askId: "a", input: "" }, decided: { cut: everything } },
      ...Array.from({ length: 258 }, (_, index) => ({
        event: { type: "ask.received", askId: `b${index}`, input: "" },
        decided: { queued: index + 1 },
      })),
      { event: { type: "thread.forked", from: { threadId: "s", turn: 0 } } },
    ]),
  },
  ...seeds.map(([name, says, seed]) => ({
    name,
    says,
    entries: numbered([{ ...begun, event: { ...begun.event, seed } }]),
  })),
  {
    name: "fork-of-what-was-said-since",
    says: "A copy of an older turn takes along what was said since of the turns in it: pins, checkpoints, scores, what was taken out.",
    entries: entriesOf(saidSince),
    fork: { threadId: "copy", turn: 3, at: 100 },
  },
  {
    name: "fork-of-all-that-was-said-since",
    says: "A copy at the head takes along what waits there as well.",
    entries: entriesOf({ ...saidSince, events: [...saidSince.events, movedTo(3), ...atTheHead] }),
    fork: { threadId: "copy", at: 100 },
  },
];

interface Numbered {
  readonly seq?: number;
  readonly event: object;
  readonly decided?: object;
}

/** Entries in their places, each a millisecond after the one before it. */
const numbered = (entries: readonly Numbered[]): readonly object[] =>
  entries.map((entry, seq) => ({ ...entry, seq, event: { at: seq, ...entry.event } }));

/** What the machine writes of a story. */
const entriesOf = (story: Story): readonly Numbered[] =>
  vectorOf(scriptOfStory(story)).steps.flatMap((step) => ("entry" in step ? [step.entry] : []));

const begun = { format: 1, event: { type: "thread.started", threadId: "t" } };
const everything = { policy: "keep-all@1", from: null, interrupted: "keep" };
const output = { name: "title", schema: {}, mode: "native", repairs: 0 };
const tools = [{ name: "mine" }];
const configuration = { fingerprint: "f", tools: [] };

const asksBeforeTheirFormat: readonly Numbered[] = [
  begun,
  { event: added(user("Once.")) },
  { event: added(user("Twice.")) },
  { event: { type: "ask.received", askId: "a", input: "x", from: 1, tools, output }, decided: { cut: everything } },
  { event: { type: "ask.received", askId: "b", input: "x", tools, output }, decided: { queued: 1 } },
  { event: round("look") },
  { event: answered("t/3.1#1") },
  { event: fired("t/6!queue") },
  { event: { type: "output.accepted", effectId: "t/4.1!output", value: {} } },
  { event: answered("t/4.1#1") },
  { event: { type: "thread.configured", configuration, format: 2 } },
  { event: { type: "thread.configured", configuration, format: 1 } },
  { event: { type: "ask.received", askId: "c", input: "x", from: 1, tools, output } },
  { event: { type: "ask.received", askId: "d", input: "x", tools, output }, decided: { queued: 1 } },
];

const joined: Story = {
  name: "joined",
  says: "",
  options: { overlap: { type: "steer", max: 9 } },
  events: [ask("a"), answered("t/1.1#1"), ask("b"), ask("c"), ask("d", "Later.", { overlap: "queue" }), ask("e")],
};

const underWay: Story = {
  name: "under-way",
  says: "",
  options: { tools: [{ name: "look" }, { name: "pay", approval: "always" }], overlap: { type: "queue", max: 9 } },
  events: [
    ask("a"),
    answered("t/1.1#1"),
    ask("b"),
    ask("c"),
    calling("t/2.1#1", "look", "pay"),
    found("t/2.1.0#1"),
    { type: "tool.withheld", effectId: "t/2.1.1#1", because: "declared", arguments: {} },
  ],
};

const strays: readonly object[] = [
  answered("t/2.1#1"),
  { type: "llm.failed", effectId: "t/2.2#1", failure: { kind: "unknown", message: "", retryable: true } },
  { type: "llm.progressed", effectId: "t/2.1#1", partial: { content: "x" } },
  { type: "output.accepted", effectId: "t/2.1!output", value: {} },
  { type: "tool.started", effectId: "t/2.1.0#1" },
  { type: "tool.completed", effectId: "t/2.1.2#1", content: null },
  { type: "approval.answered", effectId: "t/2.1.1!approval-2", approved: true },
  { type: "approval.answered", effectId: "t/2.1.0!approval-1", approved: false },
  fired("t/2!deadline"),
  fired("t/4!queue"),
  fired("t/2.1#1!retry"),
];

/** What a turn is stopped with: results also for calls that have one, and none for those that have not. */
const stops: readonly Numbered[] = [
  {
    event: { type: "cancel.requested", askId: "d", partial: {} },
    decided: { results: [{ position: 0, outcome: "interrupted", content: [] }] },
  },
  { event: fired("t/20!queue") },
  { event: calling("t/3.1#1", "look", "pay") },
  { event: { type: "cancel.requested" } },
];

const decidedOtherwise: readonly Numbered[] = [
  begun,
  { event: ask("a"), decided: {} },
  { event: ask("b"), decided: {} },
  { event: { ...answered("t/1.1#1"), at: 9 }, decided: { goesOn: true } },
  { event: { type: "cancel.requested", askId: "nobody" } },
  { event: ask("c"), decided: { queued: 7 } },
  { event: ask("d"), decided: { queued: 2 } },
  { event: fired("t/4!queue"), decided: { opens: 9 } },
  { event: calling("t/2.1#1", "look"), decided: { goesOn: true } },
  { event: { type: "cancel.requested" } },
  { event: { type: "answer.truncated", turn: 1, characters: 2 }, decided: { kept: 1 } },
  { event: { type: "head.moved", to: 7 } },
  { event: { type: "head.moved", to: { checkpoint: "nowhere" } } },
  { event: pinned("nowhere") },
  { event: { type: "turn.annotated", turn: 7, name: "score", value: 1 } },
  { event: { type: "thread.configured", configuration, format: 2 } },
  { event: { type: "ask.received", askId: "e", input: "x", output } },
  { event: { type: "output.accepted", effectId: "t/3.1!output", value: {} } },
  { event: { ...answered("t/3.1#1"), finishReason: null }, decided: { unchecked: "cut" } },
  { event: { type: "output.accepted", effectId: "t/3.1!output", value: {} } },
  { event: { type: "ask.received", askId: "f", input: "x", output } },
  { event: answered("t/4.1#1") },
  { event: { type: "output.accepted", effectId: "t/4.2!output", value: {} } },
  { event: { type: "output.refused", effectId: "t/4.1!output", issues: [] }, decided: { goesOn: true } },
];

const calls = [
  { id: "call_0", name: "look", arguments: "{}" },
  { id: null, name: "look", arguments: "{}" },
  { id: "call_0", name: "time", arguments: "{}" },
];
const result = (toolCallId: string | null, content: string): object => ({ role: "tool", toolCallId, content });

const seeds: readonly (readonly [name: string, says: string, seed: readonly object[]])[] = [
  [
    "seed-of-rounds",
    "The results of a seed stand in the order of their calls; of calls with the same id the first has the first result.",
    [
      { role: "assistant", content: "Look.", toolCalls: calls },
      result("call_0", "First."),
      result("call_0", "Second."),
      result(null, "Of none."),
      { role: "assistant", toolCalls: [] },
      { role: "assistant", content: [{ type: "reasoning", text: "Hm." }], metadata: {} },
    ],
  ],
  ["refused-seed-without-result", "A call of a seed has no result.", [{ role: "assistant", toolCalls: calls }]],
  [
    "refused-seed-with-late-result",
    "A call of a seed has its result too late.",
    [{ role: "assistant", toolCalls: calls.slice(0, 1) }, user("Well?"), result("call_0", "First.")],
  ],
  ["refused-seed-without-call", "A result of a seed has no call.", [user("Well?"), result("call_0", "First.")]],
  [
    "refused-seed-with-two-results",
    "A call of a seed has two results.",
    [{ role: "assistant", toolCalls: calls.slice(0, 1) }, result("call_0", "First."), result("call_0", "Second.")],
  ],
];

const saidSince: Story = {
  name: "said-since",
  says: "",
  start: { seed: [user("Before.")] },
  raised: true,
  events: [
    ask("a"),
    answered("t/1.1#1"),
    ask("b"),
    answered("t/2.1#1"),
    movedTo(1),
    ask("c"),
    answered("t/3.1#1"),
    movedTo(2),
    pinned("2.0"),
    pinned("0.0"),
    { type: "checkpoint.named", name: "here" },
    appended("By the way."),
    pinned("4.0"),
    { type: "turn.annotated", turn: 2, name: "score", value: 1 },
    { type: "answer.truncated", turn: 3, characters: 1 },
    pinned("2.0", false),
    pinned("1.0"),
    { type: "metadata.changed", metadata: { topic: "none" } },
    { type: "system.changed", system: "Be kind." },
    ask("d"),
    answered("t/4.1#1"),
    { type: "thread.redacted", seqs: [2, 3, 21] },
    { type: "turn.annotated", turn: 4, name: "score", value: 1 },
    { type: "thread.redacted", seqs: [21] },
    { type: "checkpoint.named", name: "there" },
  ],
};

const atTheHead = [
  appended("By the way."),
  pinned("5.0"),
  round("look"),
  pinned("3.0"),
  { type: "thread.redacted", seqs: [4, 28] },
  { type: "system.reset" },
] as const;
