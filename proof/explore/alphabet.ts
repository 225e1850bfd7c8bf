// The letters of the machine's exploration: its configurations, and the events that are tried in a state.
import {
  type AnswerableEffect,
  conversationMachine,
  type ConversationMachine,
  type Event,
  outstanding,
  type ReplyDraft,
  type State,
} from "@colloquy/machine";
import { compactTurns } from "@colloquy/machine/policies";

import { machineOptions } from "./scene.ts";

const common = { ...machineOptions, overlap: { type: "queue", max: 1 }, limits: { steps: 3 } } as const;

const compacting = compactTurns({ keepTurns: 1, at: 0.5, maxTokens: 20, requestTokens: 400, instruction: "Sum up." });

/** The machines: one that has room for everything, and one whose prompts need summaries. */
export const machines: Readonly<Record<string, ConversationMachine>> = {
  plain: conversationMachine({ ...common, limits: { ...common.limits, deadlineMs: 1_000 } }),
  compacting: conversationMachine({ ...common, budget: { tokens: 120, reserve: 20 }, policy: compacting }),
};

const at = 1;

const text = "word ".repeat(24);

const replies: readonly ReplyDraft[] = [
  { content: text },
  { toolCalls: [{ id: null, name: "unknown", arguments: "{}" }] },
  { toolCalls: ["lookup", "post"].map((name) => ({ id: null, name, arguments: "{}" })) },
];

/** Returns the events that are tried in a state: each answer to each effect, right and wrong, and all acts of users. */
export const lettersIn = (state: State): readonly Event[] => {
  const asks = state.context.conversation.turns.length + state.context.queue.length + state.context.dropped.length;
  const askId = `ask-${asks + (state.context.open?.asks.length ?? 0) + 1}`;
  const ask = { type: "ask.received", at, askId, input: text } as const;
  const schema = { name: "it", schema: {}, mode: "prompted", repairs: 1 } as const;
  return [
    ...outstanding(state).flatMap(answersTo),
    ask,
    { ...ask, overlap: "interrupt" },
    { ...ask, overlap: "steer" },
    { ...ask, limits: { steps: 0 } },
    { ...ask, askId: "ask-1" },
    { ...ask, from: 0 },
    { ...ask, output: schema },
    { type: "llm.completed", at, effectId: "stale", reply: {}, finishReason: null },
    { type: "tool.completed", at, effectId: "stale", content: "" },
    { type: "timer.fired", at, effectId: "stale" },
    { type: "cancel.requested", at },
    { type: "cancel.requested", at, askId: "nobody's" },
    { type: "head.moved", at, to: 0 },
    { type: "head.moved", at, to: 99 },
    { type: "message.appended", at, message: { role: "user", content: "By the way." } },
    { type: "turn.added", at, messages: [{ role: "user", content: text }] },
    { type: "turn.annotated", at, turn: 1, name: "score", value: 1 },
    { type: "answer.truncated", at, turn: 1, characters: 4 },
    { type: "checkpoint.named", at, name: "" },
    { type: "thread.redacted", at, seqs: [0] },
  ];
};

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
        { type: "tool.completed", ...answer, content: "done" },
        { type: "tool.failed", ...answer, outcome: "failed", content: "no" },
      ];
    case "requestApproval":
      return [
        { type: "approval.answered", ...answer, approved: true, digest: effect.digest },
        { type: "approval.answered", ...answer, approved: false },
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
