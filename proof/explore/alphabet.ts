// The letters of the machine's exploration: its configuration, and the events that are tried in a state.
import {
  type AnswerableEffect,
  type Event,
  type MachineOptions,
  outstanding,
  type ReplyDraft,
  type State,
} from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

import { machineOptions } from "./scene.ts";

/** The machine: a prompt has room for two turns, and a turn has time for everything. */
export const explored: MachineOptions = {
  ...machineOptions,
  overlap: { type: "queue", max: 1 },
  limits: { steps: 3, deadlineMs: 10_000_000 },
  budget: { tokens: 120, reserve: 20 },
  policy: compactTurns({ keepTurns: 1, at: 0.5, maxTokens: 20, requestTokens: 400, instruction: "Sum up." }),
};

const at = 1;

const text = "word ".repeat(24);

const replies: readonly ReplyDraft[] = [
  { content: text },
  ...[["unknown"], ["post"], ["lookup", "post"]].map((names) => ({
    toolCalls: names.map((name) => ({ id: null, name, arguments: "{}" })),
  })),
];

/** Returns the events that are tried in a state: each answer to each effect, right and wrong, and all acts of users. */
export const lettersIn = (state: State): readonly Event[] => [
  ...outstanding(state).flatMap(answersTo),
  ...asksIn(state),
  ...stale,
  ...edits,
  { type: "thread.configured", at, configuration: state.context.configuration },
];

const asksIn = ({ context: { seq, queue, dropped, open } }: State): readonly Event[] => {
  const ask = { type: "ask.received", at, askId: `ask-${seq + 1}`, input: text } as const;
  const output = { name: "it", schema: {}, mode: "prompted", repairs: 1 } as const;
  return [
    ask,
    ...(["interrupt", "latest", "reject"] as const).map((overlap) => ({ ...ask, overlap })),
    { ...ask, input: "More.", overlap: "steer" },
    { ...ask, input: [] },
    { ...ask, input: "", overlap: "steer" },
    { ...ask, limits: { steps: 0 } },
    { ...ask, askId: "ask-1" },
    { ...ask, askId: "ask-1", input: "something else" },
    { ...ask, askId: "" },
    ...listed(dropped[0]).map(({ askId }) => ({ ...ask, askId })),
    { ...ask, name: "two words" },
    { ...ask, input: [calling] },
    { ...ask, from: 0 },
    { ...ask, from: 0, overlap: "steer" },
    { ...ask, joins: { askId: "nobody's" } },
    { ...ask, output },
    { ...ask, output: { ...output, mode: "tool" } },
    { ...ask, output: { ...output, mode: "tool", name: "lookup" } },
    { ...ask, output: { ...output, name: "" } },
    // The model calls it.
    { ...ask, tools: [{ name: "unknown" }] },
    { ...ask, tools: [{ name: "lookup" }] },
    { ...ask, tools: [{ name: "" }] },
    { ...ask, tools: [{ name: "it" }, { name: "it" }] },
    { ...ask, tools: [{ name: "it" }], overlap: "steer" },
    ...listed(open?.joining[0] ?? queue[0]).flatMap(({ askId }) => [
      { ...ask, askId },
      { type: "cancel.requested", at, askId } as const,
    ]),
  ];
};

const call = { id: null, name: "lookup", arguments: "{}" };

/** No draft of a message, as only a program without types sends it. */
const calling = { role: "assistant", content: "", toolCalls: [call] } as const;

const answer = { at, effectId: "stale" } as const;

const stale: readonly Event[] = [
  { type: "llm.completed", ...answer, reply: {}, finishReason: null },
  { type: "llm.failed", ...answer, failure: { kind: "unknown", message: "", retryable: true } },
  { type: "llm.progressed", ...answer, partial: {} },
  { type: "output.accepted", ...answer, value: null },
  { type: "output.refused", ...answer, issues: [] },
  { type: "tool.started", ...answer },
  { type: "tool.withheld", ...answer, because: "declared", arguments: {} },
  { type: "tool.completed", ...answer, content: "" },
  { type: "tool.failed", ...answer, outcome: "failed", content: "" },
  { type: "approval.answered", ...answer, approved: true },
  { type: "timer.fired", ...answer },
];

const edits: readonly Event[] = [
  { type: "cancel.requested", at },
  { type: "cancel.requested", at, askId: "nobody's" },
  { type: "head.moved", at, to: 0 },
  { type: "head.moved", at, to: 99 },
  { type: "head.moved", at, to: { checkpoint: "none" } },
  { type: "message.appended", at, message: { role: "user", content: "By the way." } },
  { type: "message.appended", at, message: calling },
  { type: "round.appended", at, reply: { toolCalls: [call] }, results: [{ outcome: "completed", content: "" }] },
  { type: "round.appended", at, reply: {}, results: [] },
  { type: "turn.added", at, messages: [{ role: "user", content: text }] },
  { type: "turn.added", at, messages: [] },
  { type: "turn.annotated", at, turn: 1, name: "score", value: 1 },
  { type: "answer.truncated", at, turn: 1, characters: 4 },
  { type: "checkpoint.named", at, name: "here" },
  { type: "checkpoint.named", at, name: "" },
  { type: "message.pinned", at, message: "1.1", pinned: true },
  { type: "message.pinned", at, message: "9.9", pinned: true },
  { type: "message.pinned", at, message: "9.9", pinned: false },
  { type: "system.changed", at, system: "Be brief." },
  { type: "system.changed", at, system: null },
  { type: "system.reset", at },
  { type: "metadata.changed", at, metadata: {} },
  { type: "thread.forked", at, from: { threadId: "t", turn: 0 } },
  { type: "thread.redacted", at, seqs: [0] },
  { type: "thread.redacted", at, seqs: [99] },
  { type: "thread.redacted", at, seqs: [] },
];

const listed = <Value>(value: Value | undefined): readonly Value[] => (value === undefined ? [] : [value]);

const answersTo = (effect: AnswerableEffect): readonly Event[] => {
  const answer = { at, effectId: effect.id } as const;
  switch (effect.type) {
    case "callLlm":
      return [
        ...replies.map((reply) => ({ type: "llm.completed", ...answer, reply, finishReason: "stop" }) as const),
        { type: "llm.failed", ...answer, failure: { kind: "overloaded", message: "", retryable: true } },
        { type: "llm.failed", ...answer, failure: { kind: "auth", message: "", retryable: false } },
        { type: "llm.progressed", ...answer, partial: { content: "w" } },
      ];
    case "callTool":
      return [
        { type: "tool.started", ...answer },
        { type: "tool.withheld", ...answer, because: "declared", arguments: {} },
        { type: "tool.withheld", ...answer, because: "unknown_outcome", arguments: {} },
        { type: "tool.completed", ...answer, content: text },
        { type: "tool.failed", ...answer, outcome: "failed", content: "no" },
      ];
    case "requestApproval":
      return [
        { type: "approval.answered", ...answer, approved: true, digest: effect.digest },
        { type: "approval.answered", ...answer, approved: false, reason: text },
        { type: "approval.answered", ...answer, approved: true, digest: "another" },
      ];
    case "checkOutput":
      return [
        { type: "output.accepted", ...answer, value: {} },
        { type: "output.refused", ...answer, issues: [{ path: [], message: "no" }] },
      ];
    case "startTimer":
      return [{ type: "timer.fired", at: Math.max(at, effect.dueAt), effectId: effect.id }];
  }
};
