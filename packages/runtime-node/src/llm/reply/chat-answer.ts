import type { LlmDelta } from "@colloquy/host";
import type { replyFromChatMessage } from "@colloquy/interchange";
import type { Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, retryable } from "../failure/failure.ts";
import { isBareError, isError } from "../failure/response-facts.ts";
import { defined, isObject, isText, listOf, objectsIn } from "../json/loose-json.ts";
import { AnswerReader, type Ending, type PartialAnswer } from "./answer-reader.ts";
import { type DecodedChoice, deltaOf, GrowingChoice, laterReason } from "./growing-choice.ts";
import { indexOf, ToolCallPieces } from "./tool-call-pieces.ts";
import { laterReport, reportIn, usageFromWire } from "./usage.ts";

/** A chat completion, from a stream or in one piece. Its members have the names of the wire. */
export interface DecodedChat {
  /** All choices, in the order in which they began. The answer is the one of index 0. */
  readonly choices: readonly DecodedChoice[];
  /** The last report that isn't zeros; null if there was none. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** The error that the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

/**
 * Reads a chat completion, or an answer that is read as one, and reports the pieces of the reply (the choice of index 0) as they
 * come. Takes all that servers send: no role, no choices, usage in several places, content in parts, an error in the middle.
 * Checks field by field, without a schema, because it runs for each token.
 */
export class ChatAnswer extends AnswerReader<DecodedChat> {
  /** By index, in the order in which they began. */
  readonly #choices = new Map<number, GrowingChoice>();
  readonly #readReply: typeof replyFromChatMessage;
  readonly #onDelta: (delta: LlmDelta) => void;
  readonly #isOne: boolean;
  readonly #calls = new ToolCallPieces();
  readonly #named: { model?: string; responseId?: string; error?: Json } = {};
  #usage: JsonObject | null = null;
  #isWhole = false;

  /**
   * @param readReply reads the reply out of a message
   * @param isOne whether all choices are one reply. A server that was asked for one reply may put its text in one choice and its
   *   calls in another.
   */
  constructor(readReply: typeof replyFromChatMessage, onDelta: (delta: LlmDelta) => void = () => {}, isOne = false) {
    super();
    this.#readReply = readReply;
    this.#onDelta = onDelta;
    this.#isOne = isOne;
  }

  override end(): void {
    super.end();
    this.#choices.forEach((choice) => choice.showRest());
  }

  decoded(): DecodedChat {
    const all = [...this.#choices.values()].map((choice) => choice.decoded());
    return { choices: this.#isOne ? oneChoice(all) : all, usage: this.#usage, ...defined(this.#named) };
  }

  protected ending(setting: FailureSetting): Ending | null {
    const chat = this.decoded();
    const { error, usage, model, responseId } = chat;
    const answer = answerOf(chat);
    const reason = answer?.finish_reason ?? null;
    // An error replaces the answer beside it, unless it is a body that says something.
    const isSaid = this.#isWhole && !saysError(reason) && answer !== undefined && saysSomething(answer.message);
    if (error !== undefined && !isSaid) return failureOfErrorObject(error, setting);
    if (!this.#isWhole && (reason === null || (reason === "" && !this.done)))
      return retryable("truncated", "the stream ended without saying why");
    if (answer === undefined) return null;
    // Gateways end an answer so if the model behind them failed.
    if (saysError(reason)) return retryable("unknown", `the server ended the answer with the reason "${reason}"`);
    if (this.damaged) return retryable("truncated", "a piece of the stream could not be read");
    const reply = this.#readReply(withToolCall(answer.message));
    return { reply, finishReason: reason, facts: defined({ usage: usageFromWire(usage), model, responseId }) };
  }

  protected partial(): PartialAnswer {
    const chat = this.decoded();
    const reply = this.#readReply({ ...answerOf(chat)?.message, role: "assistant", tool_calls: null });
    const content = Either.isLeft(reply) ? undefined : reply.right.content;
    return { content, usage: usageFromWire(chat.usage) };
  }

  /** An event of the name `error` is one, however it is wrapped, unless it is a piece of the answer after all. */
  protected onObject(given: JsonObject, name?: string): void {
    const isWrapped = name === "error" && (given["error"] ?? given["choices"]) === undefined;
    const chunk = isWrapped ? { error: given } : given;
    this.begun = true;
    // Some servers give a reason with each piece, and some repeat the last one for ever.
    if (isPiece(chunk, this.finished ? saying : answering)) this.heard += 1;
    this.#add(this.read(chunk, false));
    const all = [...this.#choices.values()];
    const last = this.#isOne ? all : [this.#choices.get(0) ?? all[0]];
    // Some servers give an empty reason with each chunk.
    this.finished = last.length > 0 && last.every((choice) => choice?.finishReason);
  }

  /** Some servers report usage after the end mark. */
  protected override onLate(chunk: JsonObject): void {
    this.#usage = laterReport(this.#usage, reportIn(chunk));
  }

  protected onError(error: Json): void {
    this.onObject({ error });
  }

  protected onWhole(given: JsonObject): void {
    this.#isWhole = true;
    const body = this.read(given, true);
    const choices = listOf(body["choices"]).filter(isObject);
    this.#add({ ...body, choices: choices.map((choice, index) => ({ index, ...withPlaces(choice) })) });
    // A body without choices says what went wrong, under whatever name.
    if (body["choices"] === undefined) this.#named.error ??= body;
  }

  /** Turns a body (`isWhole`) or a chunk of another format into one of chat completions. */
  protected read(value: JsonObject, _isWhole: boolean): JsonObject {
    return value;
  }

  #add(chunk: JsonObject): void {
    const { model, id, error, choices } = chunk;
    this.#usage = laterReport(this.#usage, reportIn(chunk));
    if (isText(model)) this.#named.model ??= model;
    if (isText(id)) this.#named.responseId ??= id;
    if (isError(error)) this.#named.error ??= error;
    else if (isBareError(chunk)) this.#named.error ??= chunk;
    for (const choice of objectsIn(choices, ["delta", "message", "finish_reason"], () => "index")) {
      if (isError(choice["error"])) this.#named.error ??= choice["error"];
      for (const report of [reportIn(choice), deltaOf(choice)["usage"]])
        if (isObject(report)) this.#usage = laterReport(this.#usage, report);
      const index = indexOf(choice) ?? 0;
      const growing = this.#choices.get(index) ?? this.#newChoice(index);
      this.#choices.set(index, growing);
      growing.add(choice);
    }
  }

  #newChoice(index: number): GrowingChoice {
    const showOther = (delta: LlmDelta): void => {
      if (this.#isOne && (delta.type === "toolCall" || !this.#choices.get(0)?.content)) this.#onDelta(delta);
    };
    const calls = this.#isOne ? this.#calls : new ToolCallPieces();
    return new GrowingChoice(index, index === 0 ? this.#onDelta : showOther, calls);
  }
}

/**
 * Decodes a whole streamed chat completion: its bytes, or pieces of them cut anywhere. Skips what it cannot read; rejects if
 * the source fails.
 */
export const decodeChatStream = (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedChat> =>
  // Only an outcome has a reply, so none is read here, and `@colloquy/interchange` is not loaded.
  new ChatAnswer(() => Either.left("only decoded"), onDelta).readAll(source);

/** Gives the calls of a body their places as indexes: each is another call, even if ids repeat. */
const withPlaces = (choice: JsonObject): JsonObject => {
  const { message } = choice;
  const calls = isObject(message) ? listOf(message["tool_calls"]).filter(isObject) : [];
  if (!isObject(message) || calls.length < 2) return choice;
  return { ...choice, message: { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) } };
};

/** Whether a chunk has something of an answer. Servers send all kinds of chunks to keep a connection open. */
const isPiece = ({ choices, error }: JsonObject, members: readonly string[]): boolean =>
  carries(error) || listOf(choices).some((choice) => isObject(choice) && members.some((name) => carries(choice[name])));

const saying = ["delta", "message", "text", "error"];
const answering = [...saying, "finish_reason"];

/** Whether there is more than the envelope of a piece. */
const carries = (value: Json | undefined): boolean => {
  if (Array.isArray(value)) return value.some(carries);
  if (isObject(value)) return Object.entries(value).some(([name, member]) => !envelope.has(name) && carries(member));
  // DashScope writes the reason "null" in each piece but the last.
  return (value ?? "") !== "" && value !== "null";
};

const envelope: ReadonlySet<string> = new Set(["id", "index", "role", "type", "obfuscation"]);

/** Zhipu has `network_error`. */
const saysError = (reason: string | null): boolean => /(^|_)error$/i.test(reason ?? "");

/** Turns a lone `function_call` into a tool call, the only kind of call in a thread. */
const withToolCall = (message: JsonObject): JsonObject => {
  const { function_call: called, ...others } = message;
  return isObject(called) && isText(called["name"]) && listOf(message["tool_calls"]).length === 0
    ? { ...others, tool_calls: [{ type: "function", function: called }] }
    : message;
};

/** Returns the first choice as the answer, if several were requested. */
const answerOf = (chat: DecodedChat): DecodedChoice | undefined =>
  chat.choices.find((choice) => choice.index === 0) ?? chat.choices[0];

const saysSomething = ({ content, tool_calls: calls, function_call: called, refusal }: JsonObject): boolean =>
  [content, calls, called, refusal].some(Boolean);

/**
 * Joins several choices to one reply. They share one list of calls. Every other field is that of the first choice that has it,
 * because two texts are alternatives.
 */
const oneChoice = (choices: readonly DecodedChoice[]): readonly DecodedChoice[] => {
  if (choices.length < 2) return choices;
  const ordered = choices.toSorted((left, right) => left.index - right.index);
  const isSaid = (value: Json | undefined): boolean =>
    value !== null && !(typeof value === "string" && value.trim() === "");
  const members = ordered.flatMap(({ message }) => Object.entries(message).filter(([, value]) => isSaid(value)));
  const message = { content: null, ...Object.fromEntries(members.toReversed()) };
  const reasons = ordered.flatMap(({ finish_reason: reason }) => reason ?? []);
  return [{ index: ordered[0]?.index ?? 0, finish_reason: reasons.reduce<string | null>(laterReason, null), message }];
};
