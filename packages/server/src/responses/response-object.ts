import type { JsonObject, TurnOutcome, Usage } from "@colloquy/machine";
import { cutBy } from "../items/finish-reason.ts";
import { isJsonObject, type Item } from "../items/item.ts";

export interface LegPlace {
  readonly threadId: string;
  readonly turn: number;
  /** Starts at 1, and grows each time the turn continues after waiting for the caller. */
  readonly leg: number;
}

/** The queued ask of a response that has no turn yet. */
export interface QueuedPlace {
  readonly threadId: string;
  readonly askId: string;
}

/**
 * Derives the id of a response, so that every process knows it and a stream starts with the final id. A queued response
 * is named by its ask, since it has no turn yet. When the turn has started, both ids name it.
 */
const responseId = (place: LegPlace | QueuedPlace): string =>
  "turn" in place ? `resp_${place.turn}_${place.leg}_${place.threadId}` : `resp_${place.askId}_${place.threadId}`;

export const placeOfResponse = (id: string): LegPlace | QueuedPlace | null => {
  const [, turn, leg, threadId] = /^resp_(\d{1,15})_(\d+)_(.+)$/su.exec(id) ?? [];
  if (threadId !== undefined) return { threadId, turn: Number(turn), leg: Number(leg) };
  const [, askId, thread] = /^resp_([0-9a-f]{32})_(.+)$/su.exec(id) ?? [];
  return askId === undefined || thread === undefined ? null : { askId, threadId: thread };
};

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
  readonly usage: JsonObject | null;
}

/** Returns the usage of a leg from that of its turn before it and at its end; null if no call reported a figure. */
export const usageBetween = (before: Usage, now: Usage): JsonObject | null => {
  const since = (of: (usage: Usage) => number): number => of(now) - of(before);
  if (since(({ inputTokens, outputTokens }) => inputTokens.reported + outputTokens.reported) <= 0) return null;
  return {
    input_tokens: since(({ inputTokens }) => inputTokens.sum),
    input_tokens_details: { cached_tokens: since(({ cacheReadTokens }) => cacheReadTokens.sum) },
    output_tokens: since(({ outputTokens }) => outputTokens.sum),
    output_tokens_details: { reasoning_tokens: since(({ reasoningTokens }) => reasoningTokens.sum) },
    total_tokens: since(({ totalTokens }) => totalTokens.sum),
  };
};

export const statusOf = ({ place, endedAt, outcome }: LegFacts): ResponseStatus => {
  if (endedAt === null) return "turn" in place ? "in_progress" : "queued";
  if (outcome === null) return "completed";
  if (outcome.status !== "failed") return cutBy(outcome) === null ? outcome.status : "incomplete";
  return "limit" in outcome || ("failure" in outcome && outcome.failure.kind === "content_filter")
    ? "incomplete"
    : "failed";
};

/** Builds a response: the 31 members of the Open Responses schema, and `conversation`. Times are in seconds. */
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
    usage,
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
  if (outcome.status !== "failed") return cutBy(outcome) ?? "max_output_tokens";
  if ("failure" in outcome) return "content_filter";
  return "limit" in outcome && outcome.limit.limit !== "tokens" ? `max_${outcome.limit.limit}` : "max_output_tokens";
};

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
