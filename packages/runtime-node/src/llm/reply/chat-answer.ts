import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { replyFromChatMessage } from "@colloquy/interchange";
import type { Failure, Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, retryable } from "../failure/failure.ts";
import { type AnswerReader, newState, readAll } from "./answer-reader.ts";
import { chatChunks, type DecodedChat, type DecodedChoice } from "./chat-chunks.ts";
import { jsonEvents } from "./json-events.ts";
import { isObject, isText, listOf } from "../json/loose-json.ts";
import { completed, failedWith, reportedIn } from "./outcome.ts";
import { usageFromWire } from "./usage.ts";

/** How an answer is read. */
export interface ChatFormat {
  /** Makes a body (`isWhole`), or a chunk of a stream, of what another format has in its place. */
  readonly read?: (value: JsonObject, isWhole: boolean) => JsonObject;
  /** Whether nothing that the server still sends is of use. */
  readonly isOver?: () => boolean;
  /** All choices are one reply. */
  readonly isOne?: boolean;
}

/** Reads a chat completion, or what is read as one, as it comes, and reports the pieces of the answer. */
export const chatAnswer = (
  onDelta?: (delta: LlmDelta) => void,
  { read = (value) => value, isOver, isOne }: ChatFormat = {},
): AnswerReader & { readonly decoded: () => DecodedChat } => {
  const chunks = chatChunks(onDelta, isOne);
  const state = newState();
  let isWhole = false;
  const add = (chunk: JsonObject): void => {
    state.begun = true;
    if (isPiece(chunk)) state.heard += 1;
    chunks.add(read(chunk, false));
    state.finished = chunks.isFinished();
    state.done ||= isOver?.() === true;
  };
  const { feed, end } = jsonEvents({
    onObject: (chunk, name) => add(name === "error" ? errorIn(chunk) : chunk),
    onError: (error) => add({ error }),
    onDone: () => {
      state.begun = true;
      state.done = true;
      state.heard += 1;
    },
    onDamage: () => (state.damaged ||= !state.finished),
  });
  return {
    feed,
    end: () => {
      end();
      chunks.end();
    },
    whole: (given) => {
      isWhole = state.begun = true;
      const body = read(given, true);
      const choices = listOf(body["choices"]).filter(isObject);
      chunks.add({ ...body, choices: choices.map((choice, index) => ({ index, ...withPlaces(choice) })) });
      // A body without choices is about what went wrong, under whatever name.
      if (body["choices"] === undefined) chunks.add({ error: body });
    },
    decoded: chunks.decoded,
    state,
    outcome: (setting) => (state.begun ? outcomeOf(chunks.decoded(), isWhole ? null : state, setting) : null),
    failed: (failure) => failed(failure, chunks.decoded()),
  };
};

/** A choice whose calls have their places as indexes: in a body each is one, whatever their ids are. */
const withPlaces = (choice: JsonObject): JsonObject => {
  const { message } = choice;
  const calls = isObject(message) ? listOf(message["tool_calls"]).filter(isObject) : [];
  if (!isObject(message) || calls.length < 2) return choice;
  return { ...choice, message: { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) } };
};

/** Whether a chunk has something of an answer. Servers send all kinds of chunks to keep a connection open. */
const isPiece = ({ choices, error }: JsonObject): boolean =>
  carries(error ?? null) ||
  listOf(choices).some((choice) => isObject(choice) && answering.some((name) => carries(choice[name] ?? null)));

const answering = ["delta", "message", "text", "finish_reason", "error"];

/** Whether there is more than the envelope of a piece. */
const carries = (value: Json): boolean => {
  if (Array.isArray(value)) return value.some(carries);
  if (isObject(value))
    return Object.entries(value).some(([name, member]) => !envelope.has(name) && carries(member ?? null));
  // DashScope's reason of a piece that is not the last.
  return value !== null && value !== "" && value !== "null";
};

const envelope: ReadonlySet<string> = new Set(["id", "index", "role", "type", "obfuscation"]);

/** What an event of the name `error` says is one, however it is wrapped; unless it is a piece of the answer after all. */
const errorIn = (chunk: JsonObject): JsonObject =>
  (chunk["error"] ?? chunk["choices"]) === undefined ? { error: chunk } : chunk;

/**
 * Decodes a whole streamed chat completion: its bytes, or pieces of them cut anywhere. What can't be read is passed
 * over; a source that fails makes the promise fail.
 */
export const decodeChatStream = async (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedChat> => {
  const answer = chatAnswer(onDelta);
  await readAll(answer, source);
  return answer.decoded();
};

/** @param stream The state of a stream that was read to its end; null for a body that came in one piece. */
const outcomeOf = (
  chat: DecodedChat,
  stream: { readonly done: boolean; readonly damaged: boolean } | null,
  setting: FailureSetting,
): LlmOutcome | null => {
  const answer = answerOf(chat);
  const reason = answer?.finish_reason ?? null;
  // An error beside an answer is a server's way of saying that there was none, unless a body says something.
  const isSaid = stream === null && !saysError(reason) && answer !== undefined && saysSomething(answer.message);
  if (chat.error !== undefined && !isSaid) return failed(failureOfErrorObject(chat.error, setting), chat);
  if (stream !== null && (reason === null || (reason === "" && !stream.done)))
    return failed(retryable("truncated", "the stream ended without saying why"), chat);
  if (answer === undefined) return null;
  // Gateways end an answer so when the model behind them failed, whether they say why or not.
  if (saysError(reason)) {
    const message = `the server ended the answer with the reason "${reason}"`;
    return failed(retryable("unknown", message), chat);
  }
  if (stream?.damaged === true) return failed(retryable("truncated", "a piece of the stream could not be read"), chat);
  return completed(replyFromChatMessage(withToolCall(answer.message)), reason, reportedIn(chat), (failure) =>
    failed(failure, chat),
  );
};

/** Zhipu has `network_error`. */
const saysError = (reason: string | null): boolean => /(^|_)error$/i.test(reason ?? "");

/** The call of the time before tools, if there is no other, as one of a tool: a thread knows tools alone. */
const withToolCall = ({ function_call: called, ...message }: JsonObject): JsonObject =>
  isObject(called) && isText(called["name"]) && listOf(message["tool_calls"]).length === 0
    ? { ...message, tool_calls: [{ type: "function", function: called }] }
    : { ...message, ...(called === undefined ? {} : { function_call: called }) };

/** The call failed; what had come of the answer goes with it. */
const failed = (failure: Failure, chat: DecodedChat): LlmOutcome =>
  failedWith(failure, partialOf(answerOf(chat)), usageFromWire(chat.usage));

/** Where several were asked for, the first is the answer. */
const answerOf = (chat: DecodedChat): DecodedChoice | undefined =>
  chat.choices.find((choice) => choice.index === 0) ?? chat.choices[0];

const saysSomething = ({ content, tool_calls: calls, function_call: called, refusal }: JsonObject): boolean =>
  [content, calls, called, refusal].some((value) => (typeof value === "object" && value !== null) || Boolean(value));

/** The text that arrived, without calls and provider fields: they may be incomplete, and half a signature is worthless. */
const partialOf = (answer: DecodedChoice | undefined): ReplyDraft | undefined => {
  if (answer === undefined) return undefined;
  const reply = replyFromChatMessage({ ...answer.message, tool_calls: null });
  return Either.isLeft(reply) || reply.right.content === undefined ? undefined : { content: reply.right.content };
};
