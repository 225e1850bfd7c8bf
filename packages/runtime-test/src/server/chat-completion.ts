import type { JsonObject, ReplyDraft, ReportedUsage, ToolCallDraft } from "@colloquy/machine";
import { type AnswerHead, type Completed, given, headOf, spokenOf, totalOf } from "./answer.ts";

/** Returns a whole answer, as `POST /chat/completions` without `stream` does. */
export const chatCompletion = (head: AnswerHead, outcome: Completed): JsonObject => ({
  ...headOf(head, outcome),
  object: "chat.completion",
  choices: [{ index: 0, message: wireReply(outcome.reply), logprobs: null, finish_reason: outcome.finishReason }],
  ...(outcome.usage === undefined ? {} : { usage: wireUsage(outcome.usage) }),
});

/** Returns a tool call in the form of an answer; one without an id has none in the answer either. */
export const wireToolCall = ({ id, name, arguments: written }: ToolCallDraft): JsonObject => ({
  ...(id === null ? {} : { id }),
  type: "function",
  function: { name, arguments: written },
});

/** Returns a usage report. Unknown figures are left out, not reported as zero. */
export const wireUsage = (usage: ReportedUsage): JsonObject => ({
  ...given("prompt_tokens", usage.inputTokens),
  ...given("completion_tokens", usage.outputTokens),
  ...given("total_tokens", totalOf(usage)),
  ...(usage.cacheReadTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: usage.cacheReadTokens } }),
  ...(usage.reasoningTokens === undefined
    ? {}
    : { completion_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
  ...usage.provider,
});

const wireReply = (reply: ReplyDraft): JsonObject => {
  const { text, reasoning, refusal } = spokenOf(reply);
  const calls = reply.toolCalls ?? [];
  const silent = text === "" && (calls.length > 0 || refusal !== "");
  return {
    role: "assistant",
    content: silent ? null : text,
    refusal: refusal === "" ? null : refusal,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireToolCall) }),
  };
};
