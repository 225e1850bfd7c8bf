import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { Failure, ReplyDraft, ReportedUsage } from "@colloquy/machine";
import { replyFromModelMessages } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { retryable } from "../failure/failure.ts";
import { isObject } from "../json/loose-json.ts";
import { completed, failedWith } from "../reply/outcome.ts";
import { usageFromWire } from "../reply/usage.ts";
import type { AiStreamPart } from "./sdk-model.ts";

/** The answer of a model of the AI SDK, as it comes. */
export class AiAnswer {
  readonly #onDelta: (delta: LlmDelta) => void;
  readonly #said: { readonly type: "text" | "reasoning"; readonly id: string; text: string }[] = [];
  readonly #calls: Call[] = [];
  readonly #sources: AiStreamPart[] = [];
  #finish: Extract<AiStreamPart, { type: "finish" }> | undefined;
  #named: { readonly model?: string; readonly responseId?: string };

  /** @param modelId What the model goes by where its provider does not say which one answered. */
  constructor(modelId: string, onDelta: (delta: LlmDelta) => void) {
    this.#named = { model: modelId };
    this.#onDelta = onDelta;
  }

  /** The next piece. */
  add(part: AiStreamPart): void {
    switch (part.type) {
      case "text-delta":
      case "reasoning-delta":
        this.#say(part.type === "text-delta" ? "text" : "reasoning", part.id, part.delta);
        break;
      case "tool-input-start":
        if (part.providerExecuted !== true) this.#show(this.#begin(part.id, part.toolName), "");
        break;
      case "tool-input-delta": {
        const call = this.#calls.findLast(({ id, input }) => id === part.id && input === null);
        if (call !== undefined) this.#show(call, part.delta);
        break;
      }
      case "tool-call":
        if (part.providerExecuted !== true) this.#call(part);
        break;
      case "source":
        this.#sources.push(part);
        break;
      case "response-metadata":
        this.#named = {
          ...this.#named,
          ...(part.modelId === undefined ? {} : { model: part.modelId }),
          ...(part.id === undefined ? {} : { responseId: part.id }),
        };
        break;
      case "finish":
        this.#finish = part;
        break;
      default:
    }
  }

  /** Whether the answer said why it ended. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** How the answer ended the call. @param messages What the SDK made of it, to be sent back. */
  outcome(messages: readonly unknown[]): LlmOutcome {
    const reason = this.#finish?.finishReason;
    if (reason === undefined || reason.unified === "interrupted")
      return this.failed(retryable("truncated", "the stream ended without saying why"));
    if (reason.unified === "error") {
      const why = reason.raw === undefined ? "" : ` (${reason.raw})`;
      const message = `the provider ended the answer with the reason "error"${why}`;
      return this.failed(retryable("unknown", message));
    }
    const finishReason = reason.unified === "other" ? (reason.raw ?? "other") : reason.unified;
    const usage = this.#usage();
    const reported = { ...this.#named, ...(usage === undefined ? {} : { usage }) };
    return completed(this.#replyOf(messages), finishReason, reported, (failure) => this.failed(failure));
  }

  /** The call failed; the text that had come goes with it, without calls and signatures, which may be incomplete. */
  failed(failure: Failure): LlmOutcome {
    const content = this.#said.flatMap(({ type, text }) => (text === "" ? [] : [{ type, text }]));
    return failedWith(failure, content.length === 0 ? undefined : { content }, this.#usage());
  }

  #say(type: "text" | "reasoning", id: string, text: string): void {
    const last = this.#said.at(-1);
    if (last?.type === type && last.id === id) last.text += text;
    else this.#said.push({ type, id, text });
    if (text !== "") this.#onDelta({ type, text });
  }

  #begin(id: string, name: string): Call {
    const call: Call = { id, name, index: this.#calls.length, shown: "", input: null };
    this.#calls.push(call);
    return call;
  }

  #show(call: Call, piece: string): void {
    call.shown += piece;
    this.#onDelta({ type: "toolCall", index: call.index, id: call.id, name: call.name, arguments: piece });
  }

  /** Some providers give calls whole, and some give no arguments for none. */
  #call({ toolCallId, toolName, input }: Extract<AiStreamPart, { type: "tool-call" }>): void {
    const begun = this.#calls.find(({ id, input: whole }) => id === toolCallId && whole === null);
    const call = begun ?? this.#begin(toolCallId, toolName);
    call.input = input.trim() === "" ? "{}" : input;
    if (call.shown === "") this.#show(call, call.input);
  }

  /** The calls stand in the order in which they were shown, with their arguments as they were written. */
  #replyOf(messages: readonly unknown[]): Either.Either<string, ReplyDraft> {
    const whole = this.#calls.filter(({ input }) => input !== null);
    return Either.map((reply: ReplyDraft): ReplyDraft => {
      if (reply.toolCalls === undefined) return reply;
      const left = [...reply.toolCalls];
      const toolCalls = whole.flatMap(({ id, input }) => {
        const place = left.findIndex((call) => call.id === id);
        return left.splice(place, place === -1 ? 0 : 1).map((call) => ({ ...call, arguments: input ?? "" }));
      });
      return { ...reply, toolCalls: [...toolCalls, ...left] };
    })(replyFromModelMessages(messages, { sources: this.#sources }));
  }

  #usage(): ReportedUsage | undefined {
    return this.#finish === undefined ? undefined : usageOfAi(this.#finish.usage);
  }
}

/** A call of a tool that is the caller's. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  shown: string;
  /** Its arguments as they were written; null until they are whole. */
  input: string | null;
}

type AiUsage = Extract<AiStreamPart, { type: "finish" }>["usage"];

/**
 * What a provider reported of one call. What it did not report is unknown, which is not zero; undefined when nothing is known.
 * The total is the one that it reports itself, and what it says beyond that is kept under `provider`.
 */
const usageOfAi = ({ inputTokens, outputTokens, raw }: AiUsage): ReportedUsage | undefined => {
  const { totalTokens, provider } = (isObject(raw) ? usageFromWire(raw) : undefined) ?? {};
  const reported = usageFromWire({
    input_tokens: inputTokens.total,
    output_tokens: outputTokens.total,
    total_tokens: totalTokens,
    cache_read_input_tokens: inputTokens.cacheRead,
    cache_creation_input_tokens: inputTokens.cacheWrite,
    reasoning_tokens: outputTokens.reasoning,
  });
  return reported && { ...reported, ...(provider === undefined ? {} : { provider }) };
};
