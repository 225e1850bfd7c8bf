import { messagesOf, phaseOf, type State, type Tally } from "@colloquy/machine";
import type { Drive } from "./drive.ts";
import { isTokens } from "./drafts.ts";
import type { Figures } from "./figures.ts";
import { firstItemDifference } from "./item-checks.ts";
import { itemsOfMessages } from "./item-drafts.ts";
import type { RecordedResponsesCase } from "./responses-case.ts";
import type { ResponsesTranscript } from "./responses-transcript.ts";

/** Describes the first difference at the end of a replay; null if there is none. */
export const finalItemsDifference = (
  driven: Drive,
  recorded: RecordedResponsesCase,
  transcript: ResponsesTranscript,
): string | null => {
  const { expect } = recorded;
  const figures = figuresOfItems(driven, recorded);
  const final = itemsOfMessages(allMessages(driven.state), recorded.instructions);
  const wrong = typeof final === "string" ? final : firstItemDifference(final, transcript.items);
  if (wrong !== null) return `the final list: ${wrong}`;
  return (
    phaseDifference(driven.state, recorded, transcript) ??
    count("model calls", figures.llmCalls, expect.llm_calls) ??
    count("prompts", expect.calls.length, expect.llm_calls) ??
    count("tool calls", figures.toolCalls, expect.tool_calls) ??
    usageDifference(driven.state, recorded)
  );
};

/** Returns the figures of a replay, counted at the machine. */
export const figuresOfItems = (driven: Drive, recorded: RecordedResponsesCase): Figures => {
  const { total } = driven.state.context.usage;
  const messages = allMessages(driven.state);
  const events = driven.entries.map(({ event }) => event);
  const asked = recorded.steps.flatMap((step) => (step.type === "input" ? step.items : []));
  return {
    conversations: 1,
    llmCalls: total.calls,
    toolCalls: events.reduce(
      (sum, event) => sum + (event.type === "llm.completed" ? (event.reply.toolCalls?.length ?? 0) : 0),
      0,
    ),
    toolResults: events.filter(({ type }) => type === "tool.completed").length,
    userMessages: asked.filter((item) => item["role"] === "user").length,
    messagesFinal: messages.length,
    messagesSent: driven.calls.slice(0, total.calls).reduce((sum, call) => sum + call.messages.length, 0),
    promptTokens: total.inputTokens.sum,
    completionTokens: total.outputTokens.sum,
    totalTokens: total.totalTokens.sum,
  };
};

const allMessages = (state: State): ReturnType<typeof messagesOf> => {
  const { system } = state.context.conversation;
  return [...(system === null ? [] : [system]), ...messagesOf(state)];
};

const phaseDifference = (
  state: State,
  recorded: RecordedResponsesCase,
  transcript: ResponsesTranscript,
): string | null => {
  const last = recorded.steps.at(-1);
  const kept = transcript.kept.get(recorded.steps.length - 1) ?? [];
  const expected =
    last?.type === "input"
      ? "awaiting_llm"
      : kept.some(({ type }) => type === "function_call")
        ? "awaiting_tool"
        : "completed";
  const phase = phaseOf(state);
  return phase === expected
    ? null
    : `the machine ends in ${phase}; what was recorded last should leave it in ${expected}`;
};

const usageDifference = (state: State, recorded: RecordedResponsesCase): string | null => {
  const { inputTokens, outputTokens, totalTokens } = state.context.usage.total;
  return (
    tokens("input_tokens", inputTokens, recorded) ??
    tokens("output_tokens", outputTokens, recorded) ??
    tokens("total_tokens", totalTokens, recorded)
  );
};

const tokens = (field: string, tally: Tally, recorded: RecordedResponsesCase): string | null => {
  const reported = recorded.steps.filter((step) => step.type === "llm" && isTokens(step.usage?.[field])).length;
  // If the provider left a total out, the machine has the sum of the parts, but the recording has nothing.
  if (field === "total_tokens" && tally.reported > reported) return null;
  if (tally.reported !== reported)
    return `${field}: the machine has them of ${tally.reported} calls, ${reported} reported them`;
  const expected = recorded.expect.usage?.[field];
  return typeof expected === "number" && expected !== tally.sum
    ? `${field}: came ${tally.sum}, recorded ${expected}`
    : null;
};

const count = (what: string, came: number, recorded: number): string | null =>
  came === recorded ? null : `${what}: came ${came}, recorded ${recorded}`;
