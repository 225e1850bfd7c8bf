import type { JsonObject, ReportedUsage, TurnOutcome, Usage } from "@colloquy/machine";
import { isJsonObject, type Item } from "../items/item.ts";
import { type LegPlace, type QueuedPlace, responseId } from "./response-id.ts";

export type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** The facts of a leg, from which its response is written. */
export interface LegFacts {
  readonly place: LegPlace | QueuedPlace;
  /** The request's members that the turn keeps and the response repeats. */
  readonly echo: JsonObject;
  readonly createdAt: number;
  /** Null while it is running. */
  readonly endedAt: number | null;
  /** The outcome of the turn if this leg ended it; null if the leg waits for the caller or is running. */
  readonly outcome: TurnOutcome | null;
  readonly items: readonly Item[];
  readonly usage: TokenFigures | null;
}

export interface TokenFigures {
  /** The number of reported figures. If it is 0, the usage is unknown. */
  readonly reports: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  readonly total: number;
}

/** Converts a usage; returns null if no call reported any figure. */
export const figuresOf = ({
  inputTokens,
  outputTokens,
  totalTokens,
  cacheReadTokens,
  reasoningTokens,
}: Usage): TokenFigures | null => {
  const reports = inputTokens.reported + outputTokens.reported;
  if (reports === 0) return null;
  const [input, cached, output] = [inputTokens.sum, cacheReadTokens.sum, outputTokens.sum];
  return { reports, input, cached, output, reasoning: reasoningTokens.sum, total: totalTokens.sum };
};

/** Converts the figures of one report; returns null if it has none. */
export const figuresOfReport = (report: ReportedUsage): TokenFigures | null => {
  const {
    inputTokens,
    outputTokens,
    totalTokens,
    cacheReadTokens: cached = 0,
    reasoningTokens: reasoning = 0,
  } = report;
  const reports = Number(inputTokens !== undefined) + Number(outputTokens !== undefined);
  const [input, output] = [inputTokens ?? 0, outputTokens ?? 0];
  return reports === 0 ? null : { reports, input, cached, output, reasoning, total: totalTokens ?? input + output };
};

/** Adds the figures of two spans. */
export const figuresSum = (one: TokenFigures | null, other: TokenFigures | null): TokenFigures | null =>
  one === null || other === null ? (one ?? other) : combined(one, other, 1);

/** Subtracts an earlier total of the same turn. */
export const figuresSince = (now: TokenFigures | null, before: TokenFigures | null): TokenFigures | null => {
  const since = now === null || before === null ? now : combined(now, before, -1);
  return since?.reports === 0 ? null : since;
};

const combined = (one: TokenFigures, other: TokenFigures, sign: 1 | -1): TokenFigures => ({
  reports: one.reports + sign * other.reports,
  input: one.input + sign * other.input,
  cached: one.cached + sign * other.cached,
  output: one.output + sign * other.output,
  reasoning: one.reasoning + sign * other.reasoning,
  total: one.total + sign * other.total,
});

export const statusOf = ({ place, endedAt, outcome }: LegFacts): ResponseStatus => {
  if (endedAt === null) return "turn" in place ? "in_progress" : "queued";
  if (outcome === null) return "completed";
  if (outcome.status !== "failed")
    return outcome.status === "completed" && outcome.finishReason === "length" ? "incomplete" : outcome.status;
  return "limit" in outcome || ("failure" in outcome && outcome.failure.kind === "content_filter")
    ? "incomplete"
    : "failed";
};

/**
 * Builds a response object: the 31 members that the Open Responses schema requires, with their defaults, and
 * `conversation`. Times are in seconds since the epoch.
 */
export const responseObject = (facts: LegFacts): JsonObject => {
  const { place, echo, createdAt, endedAt, outcome, items, usage } = facts;
  const { metadata, tools, reasoning, text, ...said } = echo;
  const status = statusOf(facts);
  return {
    ...defaults,
    ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null)),
    id: responseId(place),
    object: "response",
    created_at: seconds(createdAt),
    completed_at: endedAt === null || status !== "completed" ? null : seconds(endedAt),
    status,
    incomplete_details: status === "incomplete" && outcome !== null ? { reason: incompleteReason(outcome) } : null,
    error: status === "failed" && outcome !== null ? errorOf(outcome) : null,
    model: echo["model"] ?? "",
    previous_response_id:
      "turn" in place && place.leg > 1
        ? responseId({ ...place, leg: place.leg - 1 })
        : (echo["previous_response_id"] ?? null),
    output: items,
    usage: usage === null ? null : wireUsage(usage),
    metadata: metadata ?? {},
    tools: Array.isArray(tools) ? tools.map(wireTool) : [],
    reasoning: { effort: null, summary: null, ...(isJsonObject(reasoning) ? reasoning : {}) },
    text: wireText(isJsonObject(text) ? text : {}),
    conversation: { id: place.threadId },
  };
};

/** Describes a failure without the provider's text, which may reveal more than a client should know. */
export const errorOf = (outcome: TurnOutcome): { readonly code: string; readonly message: string } => {
  if (outcome.status !== "failed") return { code: "server_error", message: "the turn ended" };
  if ("failure" in outcome) {
    const { kind, retryable } = outcome.failure;
    const code = kind === "rate_limit" ? "rate_limit_exceeded" : "server_error";
    return { code, message: `the model call failed: ${kind}${retryable ? "; asking again may help" : ""}` };
  }
  if ("unfit" in outcome)
    return {
      code: "context_length_exceeded",
      message: `the conversation takes ${outcome.unfit.tokens} tokens, and there is room for ${outcome.unfit.available}`,
    };
  if ("output" in outcome) return { code: "invalid_output", message: "no answer fitted the output that was asked for" };
  return { code: "limit_reached", message: `the limit of ${outcome.limit.limit} was reached` };
};

const defaults = {
  instructions: null,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  truncation: "disabled",
  tool_choice: "auto",
  parallel_tool_calls: true,
  max_output_tokens: null,
  max_tool_calls: null,
  store: true,
  background: false,
  service_tier: "default",
  safety_identifier: null,
  prompt_cache_key: null,
} as const;

const incompleteReason = (outcome: TurnOutcome): string => {
  if (outcome.status !== "failed") return "max_output_tokens";
  if ("failure" in outcome) return "content_filter";
  return "limit" in outcome && outcome.limit.limit !== "tokens" ? `max_${outcome.limit.limit}` : "max_output_tokens";
};

const wireUsage = ({ input, cached, output, reasoning, total }: TokenFigures): JsonObject => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: reasoning },
  total_tokens: total,
});

const wireText = ({ format = { type: "text" }, ...text }: JsonObject): JsonObject => {
  const isSchema = isJsonObject(format) && format["type"] === "json_schema";
  return { ...text, format: isSchema ? { description: null, strict: false, ...format } : format };
};

const wireTool = (tool: unknown): JsonObject => ({
  description: null,
  parameters: null,
  strict: null,
  ...(isJsonObject(tool) ? tool : {}),
});

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
