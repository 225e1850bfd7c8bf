import type { LlmDelta } from "@colloquy/host";
import type { replyFromResponseItems } from "@colloquy/interchange";
import type { CallLlm, Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, retryable } from "../failure/failure.ts";
import { isBareError, isError } from "../failure/response-facts.ts";
import { defined, isList, isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";
import { AnswerReader, type Ending, type PartialAnswer, type ReplyPart, textsOf } from "./answer-reader.ts";
import { ResponseItems } from "./response-items.ts";
import { laterReport, usageFromWire } from "./usage.ts";

/** An answer of the Responses API, whether it came in one piece or in many, with the names of the wire. */
export interface DecodedResponse {
  /** The items of the output, in order. */
  readonly output: readonly JsonObject[];
  /** How it ended, such as `completed`, `incomplete`, `failed`; null if it did not end. */
  readonly status: string | null;
  /** Why it is incomplete. */
  readonly reason?: string;
  /** Null if there was no report. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** The error that the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

type ReadReply = typeof replyFromResponseItems;

/**
 * Reads an answer of the Responses API as it comes, and reports the pieces of the reply. Only a finished item has all that is
 * encrypted in it, so finished items replace their pieces.
 */
export class ResponseAnswer extends AnswerReader<DecodedResponse> {
  readonly #readReply: ReadReply;
  readonly #items: ResponseItems;
  readonly #wantsOutput: boolean;
  #facts: Omit<DecodedResponse, "output" | "error"> = { status: null, usage: null };
  #error: Json | undefined;

  /** @param readReply reads the reply out of items */
  constructor(
    readReply: ReadReply,
    onDelta: (delta: LlmDelta) => void = () => {},
    { output }: Pick<CallLlm, "output"> = {},
  ) {
    super();
    this.#readReply = readReply;
    this.#items = new ResponseItems(readReply, onDelta);
    this.#wantsOutput = output !== undefined;
  }

  decoded(): DecodedResponse {
    const { status } = this.#facts;
    const isCut = status === "completed" && this.#items.isCut();
    return {
      ...this.#facts,
      output: this.#items.items(),
      status: !this.finished ? null : isCut ? "incomplete" : status,
      ...defined({ error: this.#error }),
    };
  }

  protected ending(setting: FailureSetting): Ending {
    const response = this.decoded();
    const { error, status, output, usage, model, responseId } = response;
    if (error !== undefined) return failureOfErrorObject(error, setting);
    if (this.damaged) return retryable("truncated", "a piece of the stream could not be read");
    if (status === null) return retryable("truncated", "the stream ended without saying how");
    // Nobody asked for an answer in the background, to be read later.
    if (["failed", "cancelled", "queued", "in_progress"].includes(status)) {
      const message = `the server ended its answer with the status "${status}", and does not say why`;
      return { ...retryable("unknown", message), retryable: status !== "queued" };
    }
    const reply = this.#replyOf(output);
    const facts = defined({ usage: usageFromWire(usage), model, responseId });
    const finishReason = finishReasonOf(response, Either.isRight(reply) ? reply.right : {});
    return { reply: Either.mapLeft(({ reason }: { readonly reason: string }) => reason)(reply), finishReason, facts };
  }

  /** A wanted output is the final answer: messages on the way to it become reasoning, and go back as the items that they were. */
  #replyOf(output: readonly JsonObject[]): ReturnType<ReadReply> {
    if (!this.#wantsOutput || !output.some((item) => item["phase"] === "final_answer")) return this.#readReply(output);
    const items = output.map((said): JsonObject => {
      const isOnTheWay = said["type"] === "message" && said["phase"] === "commentary";
      return isOnTheWay ? { type: "reasoning", summary: listOf(said["content"]).filter(isObject), said } : said;
    });
    return Either.map((reply: ReplyDraft): ReplyDraft => {
      const { content } = reply;
      return content === undefined || typeof content === "string" ? reply : { ...reply, content: content.map(asSaid) };
    })(this.#readReply(items));
  }

  protected partial(): PartialAnswer {
    const reply = this.#readReply(this.#items.items());
    const texts = Either.isLeft(reply) ? [] : textsOf(reply.right.content ?? []);
    const [only] = texts;
    const content = texts.length === 1 && only?.type === "text" ? only.text : only && texts;
    return { content, usage: usageFromWire(this.#facts.usage) };
  }

  protected onObject(event: JsonObject, name?: string): void {
    const type = isText(event["type"]) ? event["type"] : (name ?? "");
    if (type === "error" || (type === "" && (isError(event["error"]) || isBareError(event))))
      return this.onError(errorOf(event));
    this.begun = true;
    if (isPiece(event)) this.heard += 1;
    const response = isObject(event["response"]) ? event["response"] : {};
    this.#addFacts(response);
    const ending = terminal.get(type);
    if (type === "response.output_item.added") this.#items.begin(event);
    else if (type === "response.output_item.done") this.#items.finish(event);
    else if (ending === undefined) this.#items.grow(event, type);
    else {
      // Some servers end an answer that they still call unfinished.
      const { status, error, output } = response;
      const isEnded = isText(status) && status !== "in_progress" && status !== "queued";
      this.#facts = { ...this.#facts, status: isEnded ? status : ending };
      this.#items.complete(listOf(output));
      this.onError(isObject(error) ? error : undefined);
    }
  }

  protected onError(error: Json | undefined): void {
    this.#error ??= error;
    this.begun = this.finished = this.done = true;
    this.heard += 1;
  }

  protected onWhole(body: JsonObject): void {
    const { output, error } = body;
    const isAnswer = isList(output);
    this.#facts = { ...this.#facts, status: isAnswer ? "completed" : null };
    this.#addFacts(body);
    this.#items.complete(listOf(output));
    // A body without an output says what went wrong, under whatever name.
    this.onError(error ?? (isAnswer ? undefined : body));
  }

  #addFacts(response: JsonObject): void {
    const { status, incomplete_details: details, usage, model, id: responseId } = response;
    const reason = isObject(details) ? details["reason"] : undefined;
    const texts = Object.entries({ status, reason, model, responseId }).filter(([, value]) => isText(value));
    const report = laterReport(this.#facts.usage, isObject(usage) ? usage : null);
    this.#facts = { ...this.#facts, ...Object.fromEntries(texts), usage: report };
  }
}

/**
 * Decodes a whole streamed answer of the Responses API: its bytes, or pieces of them cut anywhere. Skips what it cannot read;
 * rejects if the source fails.
 */
export const decodeResponseStream = async (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedResponse> => {
  const { replyFromResponseItems } = await import("@colloquy/interchange");
  return new ResponseAnswer(replyFromResponseItems, onDelta).readAll(source);
};

/** Decodes the body of an answer that came in one piece. Returns null for anything else. */
export const decodeResponseBody = (text: string): DecodedResponse | null => {
  // Nobody sees pieces of a reply here, so none is read, and `@colloquy/interchange` is not loaded.
  const answer = new ResponseAnswer(() => Either.left({ index: null, reason: "only decoded" }));
  answer.readBody(text);
  return answer.begun ? answer.decoded() : null;
};

/** Whether an event is about an item of the output. Servers send all kinds of events to keep a connection open. */
const isPiece = ({ delta, item, item_id: id, output_index: index }: JsonObject): boolean =>
  (delta ?? item ?? id ?? index ?? "") !== "";

/** How each event that ends an answer says it ended. OpenRouter ends it with `response.done`. */
const terminal: ReadonlyMap<string, string> = new Map([
  ["response.completed", "completed"],
  ["response.done", "completed"],
  ["response.incomplete", "incomplete"],
  ["response.failed", "failed"],
]);

/** An event of the type `error` has its facts under `error`, or beside its type. */
const errorOf = ({ type: _type, sequence_number: _number, ...facts }: JsonObject): Json => facts["error"] ?? facts;

const asSaid = (part: ReplyPart): ReplyPart => {
  const fields = part.type === "reasoning" ? part.provider?.["responses"] : undefined;
  const item = isObject(fields) ? fields["item"] : undefined;
  const said = isObject(item) ? item["said"] : undefined;
  return part.type === "reasoning" && isObject(said) ? { ...part, provider: { responses: { item: said } } } : part;
};

/** Returns the finish reason of chat completions, so that readers need not know the API. */
const finishReasonOf = ({ status, reason, output }: DecodedResponse, { toolCalls = [] }: ReplyDraft): string => {
  // Servers complete a response although it, or an item of it, was cut.
  if (reason !== undefined) return reason === "max_output_tokens" ? "length" : reason;
  if (status === "incomplete" || output.some(isCut)) return "incomplete";
  return toolCalls.length > 0 ? "tool_calls" : "stop";
};

/** A tool that ran at the server may fail, and the answer still be whole. Some servers leave whole items in progress. */
const isCut = ({ type, status, arguments: given }: JsonObject): boolean => {
  const isCall = type === "function_call";
  if (!isCall && type !== "message" && type !== "custom_tool_call") return false;
  if (status === "in_progress") return isCall && parseJson(textOf(given)) === undefined;
  return status === "incomplete" || status === "failed";
};
