import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { messageOf } from "@colloquy/host/store";
import { replyFromModelMessages } from "@colloquy/interchange";
import type { Failure, Json, ReplyDraft, ReportedUsage } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import {
  type FailureSetting,
  failureOfBody,
  failureOfErrorObject,
  failureOfResponse,
  failureOfThrown,
  retryable,
} from "../failure/failure.ts";
import { defined, isObject } from "../json/loose-json.ts";
import { failedWith, outcomeOf, type PartialAnswer, saysFull } from "../reply/answer-reader.ts";
import { usageFromWire } from "../reply/usage.ts";
import type { AiStreamPart } from "./sdk-model.ts";

type PartOf<Type extends AiStreamPart["type"]> = Extract<AiStreamPart, { readonly type: Type }>;

/** The answer of a model of the AI SDK, as it comes. */
export class AiAnswer {
  readonly #onDelta: (delta: LlmDelta) => void;
  readonly #said: { readonly type: "text" | "reasoning"; readonly id: string; text: string }[] = [];
  readonly #calls: Call[] = [];
  readonly #sources: AiStreamPart[] = [];
  #finish: PartOf<"finish"> | undefined;
  #named: { readonly model?: string; readonly responseId?: string };

  /** @param modelId the name of the model if its provider does not say which one answered. */
  constructor(modelId: string, onDelta: (delta: LlmDelta) => void) {
    this.#named = { model: modelId };
    this.#onDelta = onDelta;
  }

  /** Adds the next piece. */
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
        this.#named = { ...this.#named, ...defined({ model: part.modelId, responseId: part.id }) };
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

  /** Returns how the answer ended the call. @param messages the messages that the SDK made of it, to be sent back. */
  outcome(messages: readonly unknown[]): LlmOutcome {
    const reason = this.#finish?.finishReason;
    if (reason === undefined || reason.unified === "interrupted")
      return this.failed(retryable("truncated", "the stream ended without saying why"));
    const { unified, raw = unified } = reason;
    if (unified === "error") {
      const why = reason.raw === undefined ? "" : ` (${raw})`;
      return this.failed(retryable("unknown", `the provider ended the answer with the reason "error"${why}`));
    }
    // The SDK calls a full window a length.
    const finishReason = unified === "other" || saysFull(raw) ? raw : unified;
    const facts = { ...this.#named, ...defined({ usage: this.#usage() }) };
    return outcomeOf({ reply: this.#replyOf(messages), finishReason, facts }, () => this.#partial());
  }

  failed(failure: Failure): LlmOutcome {
    return failedWith(failure, this.#partial());
  }

  /** Returns the text that came. Calls and signatures may be incomplete, and are left out. */
  #partial(): PartialAnswer {
    const content = this.#said.flatMap(({ type, text }) => (text === "" ? [] : [{ type, text }]));
    return { content: content.length === 0 ? undefined : content, usage: this.#usage() };
  }

  #say(type: "text" | "reasoning", id: string, text: string): void {
    const last = this.#said.at(-1);
    if (last?.type === type && last.id === id) last.text += text;
    else this.#said.push({ type, id, text });
    if (text !== "") this.#onDelta({ type, text });
  }

  #begin(id: string, name: string): Call {
    const call: Call = { id, name, index: this.#calls.length, isShown: false, input: null };
    this.#calls.push(call);
    return call;
  }

  #show(call: Call, piece: string): void {
    const { index, id, name } = call;
    call.isShown ||= piece !== "";
    this.#onDelta({ type: "toolCall", index, id, name, arguments: piece });
  }

  /** Some providers give calls whole, and some give no arguments for an empty object. */
  #call({ toolCallId, toolName, input }: PartOf<"tool-call">): void {
    const begun = this.#calls.find(({ id, input: whole }) => id === toolCallId && whole === null);
    const call = begun ?? this.#begin(toolCallId, toolName);
    call.input = input.trim() === "" ? "{}" : input;
    if (!call.isShown) this.#show(call, call.input);
  }

  /** The calls are in the order in which they were shown, with their arguments as they were written. */
  #replyOf(messages: readonly unknown[]): Either.Either<string, ReplyDraft> {
    return Either.map((reply: ReplyDraft): ReplyDraft => {
      if (reply.toolCalls === undefined) return reply;
      const left = [...reply.toolCalls];
      const toolCalls = this.#calls.flatMap(({ id, input }) => {
        const place = input === null ? -1 : left.findIndex((call) => call.id === id);
        return left.splice(place, place === -1 ? 0 : 1).map((call) => ({ ...call, arguments: input ?? "" }));
      });
      return { ...reply, toolCalls: [...toolCalls, ...left] };
    })(replyFromModelMessages(messages, { sources: this.#sources }));
  }

  /** Returns undefined if nothing was reported. The total and all other facts are the provider's own. */
  #usage(): ReportedUsage | undefined {
    if (this.#finish === undefined) return undefined;
    const { inputTokens, outputTokens, raw } = this.#finish.usage;
    const { totalTokens, provider } = (isObject(raw) ? usageFromWire(raw) : undefined) ?? {};
    const reported = usageFromWire({
      input_tokens: inputTokens.total,
      output_tokens: outputTokens.total,
      total_tokens: totalTokens,
      cache_read_input_tokens: inputTokens.cacheRead,
      cache_creation_input_tokens: inputTokens.cacheWrite,
      reasoning_tokens: outputTokens.reasoning,
    });
    return reported && { ...reported, ...defined({ provider }) };
  }
}

/** A call of a tool of the caller's. Its arguments are null until they are whole, and then as they were written. */
type Call = {
  readonly id: string;
  readonly name: string;
  readonly index: number;
  isShown: boolean;
  input: string | null;
};

/**
 * Returns the failure of an error of the AI SDK or of a provider, thrown or in the stream. The status and headers of a response
 * decide as for any server; an error without one is judged by its name, its cause, or the answer that the provider gave instead.
 * Shows nothing of the request.
 */
export const failureOfAiError = (error: unknown, setting: FailureSetting): Failure => {
  try {
    return classified(error, setting);
  } catch {
    // A thrown value may throw when it is read.
    return failureOfThrown(new Error(messageOf(error)), setting);
  }
};

const classified = (error: unknown, setting: FailureSetting): Failure => {
  const { name, message, cause } =
    error instanceof Error ? error : { name: "", message: messageOf(error), cause: undefined };
  const known = kindsOfNames.find(([pattern]) => pattern.test(name))?.[1];
  if (known !== undefined) return { ...failureOfErrorObject({ message }, setting), ...known };
  const fields: Readonly<Record<string, unknown>> = typeof error === "object" ? { ...error } : {};
  const { statusCode: status, responseHeaders, responseBody: body, data: given } = fields;
  const text = typeof body === "string" ? body : "";
  // The error that a provider reported in the stream.
  const data = given === undefined || given === null ? undefined : jsonOf(given);
  if (typeof status === "number" && status >= 300) {
    const sent = Object.entries(responseHeaders ?? {}).map(([header, value]) => [header, String(value)] as const);
    // A `fetch` of the caller's may write the names of headers in capitals.
    const get = (name: string): string | null => sent.find(([header]) => header.toLowerCase() === name)?.[1] ?? null;
    return failureOfResponse({ status, headers: { get }, error: text || (data ?? message) }, setting);
  }
  if (typeof status === "number" && status >= 200 && text !== "") return failureOfBody(text, setting);
  if (data !== undefined || !(error instanceof Error)) return failureOfErrorObject(data ?? jsonOf(error), setting);
  const failure = failureOfThrown(cause ?? error, setting);
  // The SDK means: no answer came, and there may be one the next time.
  return failure.kind === "unknown" && fields["isRetryable"] === true
    ? { ...failure, kind: "network", retryable: true }
    : failure;
};

/** Returns the message of a value that has no JSON. */
const jsonOf = (value: unknown): Json => {
  try {
    // JSON.stringify wrote JSON.
    return JSON.parse(JSON.stringify(value) ?? "null") as Json;
  } catch {
    return messageOf(value);
  }
};

const refused = { kind: "bad_request", retryable: false } as const;

/** Errors of the SDK that have no status, by their names. */
const kindsOfNames: readonly (readonly [name: RegExp, Pick<Failure, "kind" | "retryable">])[] = [
  [/^AI_Load(APIKey|Setting)Error$/, { kind: "auth", retryable: false }],
  [/^AI_(NoSuch(Model|Provider|ProviderReference)|Unsupported(ModelVersion|Functionality))Error$/, refused],
  [/^AI_(Invalid(Prompt|Argument|DataContent)|MessageConversion|Download)Error$/, refused],
  [/^AI_(EmptyResponseBody|No(Output|Content)Generated|JSONParse)Error$/, { kind: "truncated", retryable: true }],
  [/^AI_(InvalidResponseData|TypeValidation)Error$/, { kind: "unknown", retryable: true }],
];
