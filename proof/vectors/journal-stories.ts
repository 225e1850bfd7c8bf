import { answered, appended, ask, failed, movedTo, pinned, round, user } from "./stories/events.ts";
import type { JournalScript } from "./journal-vector.ts";
import { begun, everything, placed, type Placeless } from "./placed.ts";
import { vectorOf } from "./record.ts";
import { scriptOfStory } from "./script-of-story.ts";
import type { Story } from "./stories/story.ts";

/** Journals that are made for what they show. */
export const toldJournals = (): readonly JournalScript[] => [
  {
    name: "forked-while-asks-join",
    says: "A copy of a thread begins without the asks that were open, joined or waited there.",
    entries: placed([...entriesOf(joined), { event: { type: "thread.forked", from: { threadId: "s", turn: 1 } } }]),
  },
  {
    name: "forked-behind-a-turn-that-failed",
    says: "What the turn had used that was open there was used all the same.",
    entries: placed([...entriesOf(retried), { event: { type: "thread.forked", from: { threadId: "s", turn: 1 } } }]),
  },
  {
    name: "many-dropped-asks",
    says: "Of the asks that no turn answers the newest 256 are known.",
    entries: placed([
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
    entries: placed([{ ...begun, event: { ...begun.event, seed } }]),
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

/** Returns the entries that the machine writes of a story. */
const entriesOf = (story: Story): readonly Placeless[] =>
  vectorOf(scriptOfStory(story)).steps.flatMap((step) => ("entry" in step ? [step.entry] : []));

const retried: Story = {
  name: "retried",
  says: "",
  events: [
    ask("a"),
    failed("t/1.1#1", { retryable: false }),
    ask("b"),
    failed("t/2.1#1", {}, { usage: { inputTokens: 2, outputTokens: 1 } }),
  ],
};

const joined: Story = {
  name: "joined",
  says: "",
  options: { overlap: { type: "steer", max: 9 } },
  events: [ask("a"), answered("t/1.1#1"), ask("b"), ask("c"), ask("d", "Later.", { overlap: "queue" }), ask("e")],
};

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
