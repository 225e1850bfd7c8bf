import type { LlmOutcome } from "@colloquy/host";
import type { Json, JsonObject, ReplyDraft, ReportedUsage, ToolCallDraft } from "@colloquy/machine";

/** What all parts of one answer say about it. */
export interface AnswerHead {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

type Completed = Extract<LlmOutcome, { readonly type: "completed" }>;

/** The head, with what the outcome says of itself in its place. */
export const headOf = (head: AnswerHead, { model, responseId }: Completed): AnswerHead => ({
  ...head,
  ...(model === undefined ? {} : { model }),
  ...(responseId === undefined ? {} : { id: responseId }),
});

/** A whole answer, as `POST /chat/completions` gives it without `stream`. */
export const chatCompletion = (head: AnswerHead, outcome: Completed): JsonObject => ({
  ...headOf(head, outcome),
  object: "chat.completion",
  choices: [{ index: 0, message: wireReply(outcome.reply), logprobs: null, finish_reason: outcome.finishReason }],
  ...(outcome.usage === undefined ? {} : { usage: wireUsage(outcome.usage) }),
});

/** The pieces of a reply by kind, each kind joined. */
export const spokenOf = (reply: ReplyDraft): Readonly<Record<"text" | "reasoning" | "refusal", string>> => {
  const said = { text: "", reasoning: "", refusal: "" };
  if (typeof reply.content === "string") return { ...said, text: reply.content };
  for (const part of reply.content ?? []) {
    if (part.type === "text" || part.type === "reasoning" || part.type === "refusal") said[part.type] += part.text;
  }
  return said;
};

/** A tool call as it stands in an answer; one without an id has none on the wire either. */
export const wireToolCall = ({ id, name, arguments: written }: ToolCallDraft): JsonObject => ({
  ...(id === null ? {} : { id }),
  type: "function",
  function: { name, arguments: written },
});

/** A usage report. What is not known is left out, and not said to be zero. */
export const wireUsage = (usage: ReportedUsage): JsonObject => ({
  ...given("prompt_tokens", usage.inputTokens),
  ...given("completion_tokens", usage.outputTokens),
  ...given("total_tokens", usage.totalTokens ?? sumOfKnown(usage)),
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

const given = (name: string, value: Json | undefined): JsonObject => (value === undefined ? {} : { [name]: value });

const sumOfKnown = ({ inputTokens, outputTokens }: ReportedUsage): number | undefined =>
  inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens;
