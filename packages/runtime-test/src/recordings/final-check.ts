import {
  type Json,
  messagesOf,
  type Phase,
  phaseOf,
  type State,
  type Tally,
  toArray,
  turnsOf,
} from "@colloquy/machine";
import { type CanonicalMessage, canonicalOfMessage } from "./canonical.ts";
import type { RecordedChatCase } from "./case.ts";
import { messagesDifference } from "./checks.ts";
import { isTokens } from "./drafts.ts";
import type { Drive } from "./drive.ts";
import type { Figures } from "./figures.ts";
import { protocolProblemOf } from "./protocol.ts";
import { canonicalOfStep, type Transcript } from "./transcript.ts";

/** Describes the first difference at the end of a replay; null if there is none. */
export const finalDifference = (driven: Drive, recorded: RecordedChatCase, transcript: Transcript): string | null => {
  const { expect } = recorded;
  return (
    phaseDifference(driven.state, recorded, transcript) ??
    prefixed(
      "the final list",
      messagesDifference(finalMessages(driven.state), transcript.messages, expect.messages_final, expect.final_sha256),
    ) ??
    countDifference(driven, recorded) ??
    usageDifference(driven.state, recorded) ??
    reasonsDifference(driven, recorded)
  );
};

/** Returns the figures of a replay, counted at the machine. */
export const figuresOf = (driven: Drive, recorded: RecordedChatCase): Figures => {
  const { total } = driven.state.context.usage;
  const messages = finalMessages(driven.state);
  const given = (role: string): number => givenIn(recorded).filter((each) => each === role).length;
  const count = (role: string): number => messages.filter((message) => message.role === role).length - given(role);
  return {
    conversations: 1,
    llmCalls: total.calls,
    toolCalls: toolCallsIn(driven.state),
    toolResults: count("tool"),
    userMessages: count("user"),
    messagesFinal: messages.length,
    messagesSent: driven.entries.reduce(
      (sum, { event }) => sum + (event.type === "llm.completed" ? sentBy(driven, event.effectId) : 0),
      0,
    ),
    promptTokens: total.inputTokens.sum,
    completionTokens: total.outputTokens.sum,
    totalTokens: total.totalTokens.sum,
  };
};

/**
 * Returns the roles of the messages that were not produced in the run: those of the seed, and those that the client
 * inserted.
 */
const givenIn = (recorded: RecordedChatCase): readonly Json[] => [
  ...(recorded.seed ?? []).map((message) => message["role"] ?? null),
  ...recorded.steps.flatMap((step) => {
    if (step.type === "message") return [step.message["role"] ?? null];
    return step.type === "tool" && step.placed === true ? ["tool"] : [];
  }),
];

/** Returns all messages, including those of an incomplete round. */
const finalMessages = (state: State): readonly CanonicalMessage[] => {
  const { system } = state.context.conversation;
  return [...(system === null ? [] : [system]), ...messagesOf(state)].map(canonicalOfMessage);
};

const phaseDifference = (state: State, recorded: RecordedChatCase, transcript: Transcript): string | null => {
  const expected = expectedPhase(recorded, transcript);
  const phase = phaseOf(state);
  return expected === null || expected === phase
    ? null
    : `the machine ends in ${phase}; a recording that ends "${recorded.end}" should leave it in ${expected}`;
};

const expectedPhase = (recorded: RecordedChatCase, transcript: Transcript): Phase | null => {
  switch (recorded.end) {
    case "after_llm":
      return "completed";
    case "after_llm_pending_tools":
      return "awaiting_tool";
    case "after_user":
      return "awaiting_llm";
    case "after_tool":
      return protocolProblemOf(transcript.messages.map(({ message }) => message)) === null
        ? "awaiting_llm"
        : "awaiting_tool";
    default:
      return null;
  }
};

const countDifference = (driven: Drive, recorded: RecordedChatCase): string | null => {
  const { expect } = recorded;
  const figures = figuresOf(driven, recorded);
  const kept = recorded.steps.reduce(
    (sum, step) => sum + (step.type === "llm" ? (canonicalOfStep(step).tool_calls?.length ?? 0) : 0),
    0,
  );
  const received = recorded.steps.reduce(
    (sum, step) => sum + (step.type === "llm" ? lengthOf(step.message["tool_calls"]) : 0),
    0,
  );
  if (received !== expect.tool_calls) return `the steps have ${received} tool calls, recorded ${expect.tool_calls}`;
  return (
    count("model calls", figures.llmCalls, expect.llm_calls) ??
    count("prompts", expect.calls.length, expect.llm_calls) ??
    // If the client kept other calls than it received, it answers those that it kept.
    count("tool calls", figures.toolCalls, kept) ??
    count("tool results", figures.toolResults, expect.tool_results) ??
    count("user messages", figures.userMessages, expect.user_messages)
  );
};

const usageDifference = (state: State, recorded: RecordedChatCase): string | null => {
  const { inputTokens, outputTokens, totalTokens } = state.context.usage.total;
  return (
    tokens("prompt_tokens", inputTokens, recorded) ??
    tokens("completion_tokens", outputTokens, recorded) ??
    (reportsEachTotal(recorded) ? tokens("total_tokens", totalTokens, recorded) : null)
  );
};

const tokens = (field: string, tally: Tally, recorded: RecordedChatCase): string | null => {
  const reported = recorded.steps.filter((step) => step.type === "llm" && isTokens(step.usage?.[field])).length;
  if (tally.reported !== reported)
    return `${field}: the machine has them of ${tally.reported} calls, ${reported} reported them`;
  const expected = recorded.expect.usage?.[field];
  return typeof expected === "number" && expected !== tally.sum
    ? `${field}: came ${tally.sum}, recorded ${expected}`
    : null;
};

/**
 * Returns whether the provider reported every total. If it left one out, the machine has the sum of the parts, but the
 * recording has nothing.
 */
const reportsEachTotal = (recorded: RecordedChatCase): boolean =>
  recorded.steps.every((step) => step.type !== "llm" || !step.usage || isTokens(step.usage["total_tokens"]));

const reasonsDifference = (driven: Drive, recorded: RecordedChatCase): string | null => {
  const expected = recorded.expect.finish_reasons;
  if (expected === undefined) return null;
  const came = driven.entries.flatMap(({ event }) => (event.type === "llm.completed" ? [event.finishReason] : []));
  const index = Math.max(came.length, expected.length) - 1;
  for (let k = 0; k <= index; k++) {
    if (came[k] !== expected[k])
      return `finish reason of model call ${k}: came ${JSON.stringify(came[k])}, recorded ${JSON.stringify(expected[k])}`;
  }
  const turn = turnsOf(driven.state).at(-1);
  // A turn that the client inserted ended without a reply.
  if (turn?.outcome.status !== "completed" || turn.steps === 0 || driven.state.context.open !== null) return null;
  const last = expected.at(-1) ?? null;
  return turn.outcome.finishReason === last
    ? null
    : `the last turn ended with ${JSON.stringify(turn.outcome.finishReason)}, recorded ${JSON.stringify(last)}`;
};

const toolCallsIn = (state: State): number =>
  toArray(state.context.conversation.turns).reduce(
    (sum, turn) => sum + turn.toolCalls,
    state.context.open?.toolCalls ?? 0,
  );

const sentBy = (driven: Drive, effectId: string): number =>
  driven.calls.find(({ id }) => id === effectId)?.messages.length ?? 0;

const count = (what: string, came: number, recorded: number): string | null =>
  came === recorded ? null : `${what}: came ${came}, recorded ${recorded}`;

const lengthOf = (value: Json | undefined): number => (Array.isArray(value) ? value.length : 0);

const prefixed = (what: string, words: string | null): string | null => (words === null ? null : `${what}: ${words}`);
