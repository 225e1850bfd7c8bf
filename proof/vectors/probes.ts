import type { AskReceived, Configuration, MachineOptions } from "@colloquy/machine";

import { answered, ask as asked, calling, cancelled, failed, timed, type Untimed, withheld } from "./stories/events.ts";
import { dataOf, configured } from "./machine.ts";
import type { Script } from "./vector.ts";

/**
 * For each state of the chart a thread that comes into it, and is then sent everything: what is refused there, and why, and what
 * is taken without leaving it.
 */
export const probingScripts = (): readonly Script[] =>
  places.map(({ leaf, events }) => ({
    profile: "core",
    name: `all-in-${leaf.replaceAll("_", "-")}`,
    says: `All events come in ${leaf}: most are refused, and the others do not leave it.`,
    machine,
    start: { threadId: "t", at: 0, system: "Be brief." },
    steps: timed([...events, ...probes]).map((event) => ({ event })),
  }));

const options: MachineOptions = {
  tools: [{ name: "look" }, { name: "pay", approval: "always" }],
  overlap: { type: "queue", max: 2 },
};
const machine = dataOf(options);
const { configuration }: { readonly configuration: Configuration } = configured(machine);

const ask = (askId: string, more: Partial<AskReceived> = {}): Untimed => asked(askId, "Well?", more);

const oneTurn: readonly Untimed[] = [ask("a"), answered("t/1.1#1"), { type: "checkpoint.named", name: "here" }];
const raised: Untimed = { type: "thread.configured", configuration };
const output = { name: "title", schema: { type: "object" }, mode: "native", repairs: 1 } as const;

const places: readonly { readonly leaf: string; readonly events: readonly Untimed[] }[] = [
  { leaf: "idle", events: [] },
  { leaf: "responding", events: [...oneTurn, ask("b")] },
  { leaf: "backing_off", events: [...oneTurn, ask("b"), failed("t/2.1#1")] },
  { leaf: "checking", events: [...oneTurn, raised, ask("b", { output }), answered("t/2.1#1")] },
  { leaf: "running", events: [...oneTurn, ask("b"), calling("t/2.1#1", "look", "pay", "look")] },
  {
    leaf: "awaiting_approval",
    events: [...oneTurn, ask("b"), calling("t/2.1#1", "pay", "pay"), withheld("t/2.1.0#1"), withheld("t/2.1.1#1")],
  },
  { leaf: "completed", events: oneTurn },
  { leaf: "error", events: [...oneTurn, ask("b"), failed("t/2.1#1", { retryable: false })] },
];

/** Answers that nobody awaits. */
const strays: readonly Untimed[] = [
  answered("t/9.1#1"),
  failed("t/9.1#1"),
  { type: "llm.progressed", effectId: "t/9.1#1", partial: { content: "Y" } },
  { type: "output.accepted", effectId: "t/9.1!output", value: {} },
  { type: "output.refused", effectId: "t/9.1!output", issues: [] },
  { type: "tool.started", effectId: "t/9.1.0#1" },
  withheld("t/9.1.0#1"),
  { type: "tool.completed", effectId: "t/9.1.0#1", content: null },
  { type: "tool.failed", effectId: "t/9.1.0#1", outcome: "failed", content: "" },
  { type: "approval.answered", effectId: "t/9.1.0!approval-1", approved: true },
  { type: "timer.fired", effectId: "t/9!deadline" },
];

const round = { content: "Look.", toolCalls: [{ id: "call_0", name: "look", arguments: "{}" }] };

/** A message has no calls by its type; in JSON it may have some. */
const calls = { role: "assistant" as const, content: "", toolCalls: round.toolCalls };

/** Events that name a missing thing, or are invalid. */
const wrong: readonly Untimed[] = [
  cancelled("nobody"),
  ask("", {}),
  ask("c", { limits: { steps: -1 } }),
  ask("c", { joins: { askId: "nobody" } }),
  ask("c", { input: [calls] }),
  { type: "message.appended", message: calls },
  { type: "round.appended", reply: round, results: [{ outcome: "completed", content: "Found." }] },
  raised,
  { type: "thread.configured", configuration },
  { type: "round.appended", reply: round, results: [] },
  { type: "head.moved", to: 99 },
  { type: "head.moved", to: { checkpoint: "nowhere" } },
  { type: "turn.annotated", turn: 99, name: "score", value: 1 },
  { type: "answer.truncated", turn: 99, characters: 1 },
  { type: "message.pinned", message: "99.0", pinned: true },
  { type: "message.pinned", message: "1.0", pinned: false },
  { type: "turn.added", messages: [{ role: "assistant", content: "", toolCalls: round.toolCalls }] },
  { type: "thread.redacted", seqs: [99] },
  { type: "thread.redacted", seqs: [1, 0] },
  { type: "checkpoint.named", name: "" },
  ask("c", { tools: [{ name: "look" }] }),
  ask("a"),
];

/** Events that many states accept, and that do not change the active state. */
const edits: readonly Untimed[] = [
  { type: "message.appended", message: { role: "user", content: "By the way." } },
  {
    type: "round.appended",
    reply: round,
    results: [{ outcome: "completed", content: "Found." }],
    metadata: { by: "hand" },
  },
  { type: "system.changed", system: "Be kind." },
  { type: "system.reset" },
  { type: "metadata.changed", metadata: { topic: "none" } },
  { type: "thread.configured", configuration, model: { temperature: 0 } },
  { type: "message.pinned", message: "1.0", pinned: true },
  { type: "message.pinned", message: "1.0", pinned: false },
  { type: "turn.annotated", turn: 1, name: "score", value: 1, metadata: { by: "Ada" } },
  { type: "answer.truncated", turn: 1, characters: 2 },
  { type: "checkpoint.named", name: "there" },
  { type: "head.moved", to: { checkpoint: "here" } },
  { type: "head.moved", to: 0 },
  { type: "turn.added", messages: [{ role: "user", content: "Once." }], metadata: { by: "hand" } },
  { type: "thread.redacted", seqs: [1], reason: "asked for" },
  { type: "thread.forked", from: { threadId: "elsewhere", turn: 1 } },
];

/** Asks that wait while a turn is open. They come last: where none is open, the first opens one. */
const asks: readonly Untimed[] = [
  ask("c", { from: 0 }),
  ask("c", { overlap: "reject" }),
  ask("d", { overlap: "queue" }),
  ask("e", { overlap: "merge" }),
  ask("f", { overlap: "queue" }),
  cancelled("e"),
  ask("g", { overlap: "steer" }),
  ask("h", { overlap: "latest" }),
  cancelled("g"),
  cancelled("h", { reason: "never mind" }),
];

const probes: readonly Untimed[] = [...strays, ...wrong, ...edits, ...asks];
