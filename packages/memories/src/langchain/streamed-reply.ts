import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { replyFromLangChainMessage } from "@colloquy/interchange";
import type { ReportedUsage, ToolCallDraft } from "@colloquy/machine";
import { type AIMessage, AIMessageChunk, type UsageMetadata } from "@langchain/core/messages";
import * as Either from "fp-ts/lib/Either.js";
import { storedOf } from "./messages.ts";

/**
 * A streamed reply. Shows each chunk, and joins the chunks as LangChain does. Only tool calls are joined here, so that
 * their arguments stay as the model wrote them.
 */
export class StreamedReply {
  readonly #show: (delta: LlmDelta) => void;
  readonly #chunks: (AIMessage | AIMessageChunk)[] = [];
  readonly #calls: ToolCallDraft[] = [];
  /** The positions of calls in `#calls`, by their index in the stream. */
  readonly #places = new Map<number, number>();

  constructor(show: (delta: LlmDelta) => void) {
    this.#show = show;
  }

  add(chunk: AIMessage | AIMessageChunk): void {
    this.#chunks.push(chunk);
    const reasoning = reasoningOf(chunk);
    if (reasoning !== "") this.#show({ type: "reasoning", text: reasoning });
    if (chunk.text !== "") this.#show({ type: "text", text: chunk.text });
    const pieces = "tool_call_chunks" in chunk ? (chunk.tool_call_chunks ?? []) : [];
    for (const { index, id, name, args } of pieces) this.#addCall(index, id, name, args);
    if (pieces.length > 0) return;
    for (const { id, name, args } of chunk.tool_calls ?? [])
      this.#addCall(undefined, id ?? "", name, JSON.stringify(args));
    for (const { id, name, args } of chunk.invalid_tool_calls ?? []) this.#addCall(undefined, id ?? "", name, args);
  }

  /** Returns the outcome of the model call, after the last chunk. */
  outcome(): LlmOutcome {
    const [first, ...others] = this.#chunks;
    if (first === undefined) return truncated;
    const whole = others.reduce<AIMessage | AIMessageChunk>(joined, first);
    const read = replyFromLangChainMessage(storedOf(whole));
    if (Either.isLeft(read))
      return { type: "failed", failure: { kind: "unknown", message: read.left, retryable: true } };
    const { toolCalls: _, ...reply } = read.right;
    const { response_metadata: metadata, usage_metadata: usage, id } = whole;
    const finishReason = textIn(metadata, ["finish_reason", "stop_reason", "finishReason", "done_reason"]);
    const model = textIn(metadata, ["model_name", "model"]);
    return {
      type: "completed",
      reply: this.#calls.length === 0 ? reply : { ...reply, toolCalls: this.#calls },
      finishReason: finishReason ?? null,
      ...(usage === undefined ? {} : { usage: usageOf(usage) }),
      ...(model === undefined ? {} : { model }),
      // LangChain makes ids of its own, which no provider knows.
      ...(id === undefined || id.startsWith("run-") ? {} : { responseId: id }),
    };
  }

  #addCall(index: number | undefined, id = "", name = "", args = ""): void {
    const next = this.#calls.length;
    // Without an index, a piece with an id or a name begins a call, and any other continues the last one.
    const newest = id !== "" || name !== "" || next === 0 ? next : next - 1;
    const place = index === undefined ? newest : (this.#places.get(index) ?? next);
    if (index !== undefined) this.#places.set(index, place);
    const before = this.#calls[place] ?? { id: null, name: "", arguments: "" };
    const call = {
      id: before.id ?? (id === "" ? null : id),
      name: before.name || name,
      arguments: before.arguments + args,
    };
    this.#calls[place] = call;
    this.#show({ type: "toolCall", index: place, id: call.id, name: call.name, arguments: args });
  }
}

const truncated: LlmOutcome = {
  type: "failed",
  failure: { kind: "truncated", message: "the model's stream ended before its first chunk", retryable: true },
};

const joined = (whole: AIMessage | AIMessageChunk, chunk: AIMessage | AIMessageChunk): AIMessage | AIMessageChunk =>
  whole instanceof AIMessageChunk && chunk instanceof AIMessageChunk ? whole.concat(chunk) : chunk;

/** Returns the reasoning of a chunk, from its content and from `reasoning_content`. */
const reasoningOf = ({ content, additional_kwargs: kwargs }: AIMessage | AIMessageChunk): string => {
  const field = typeof kwargs["reasoning_content"] === "string" ? kwargs["reasoning_content"] : "";
  if (typeof content === "string") return field;
  return content.reduce((text, block) => {
    const reasoning: unknown = block.type === "thinking" ? block["thinking"] : block["reasoning"];
    return typeof reasoning === "string" ? text + reasoning : text;
  }, field);
};

const usageOf = ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  total_tokens: totalTokens,
  input_token_details: input,
  output_token_details: output,
}: UsageMetadata): ReportedUsage => ({
  inputTokens,
  outputTokens,
  totalTokens,
  ...(input?.cache_read === undefined ? {} : { cacheReadTokens: input.cache_read }),
  ...(input?.cache_creation === undefined ? {} : { cacheWriteTokens: input.cache_creation }),
  ...(output?.reasoning === undefined ? {} : { reasoningTokens: output.reasoning }),
});

const textIn = (fields: object, names: readonly string[]): string | undefined =>
  names
    .map((name): unknown => Reflect.get(fields, name))
    .find((value): value is string => typeof value === "string" && value !== "");
