import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { replyFromChatMessage } from "@colloquy/interchange";
import type { Failure, Json, JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, retryable } from "../failure/failure.ts";
import { isObject, isText, listOf } from "../json/loose-json.ts";
import { type AnswerReader, answerReader, readAll, type ReadState } from "./answer-reader.ts";
import { chatChunks, type DecodedChat, type DecodedChoice } from "./chat-chunks.ts";
import { completed, failedWith, reportedIn } from "./outcome.ts";
import { usageFromWire } from "./usage.ts";

/** How an answer is read. */
export interface ChatFormat {
  /** Turns a body (`isWhole`) or a chunk of another format into one of chat completions. */
  readonly read?: (value: JsonObject, isWhole: boolean) => JsonObject;
  /** Whether nothing that the server still sends is of use. */
  readonly isOver?: () => boolean;
  /** All choices are one reply. */
  readonly isOne?: boolean;
}

/** Reads a chat completion, or an answer that is read as one, and reports the pieces of the reply. */
export const chatAnswer = (
  onDelta?: (delta: LlmDelta) => void,
  { read = (value) => value, isOver, isOne }: ChatFormat = {},
): AnswerReader<DecodedChat> =>
  answerReader((state) => {
    const chunks = chatChunks(onDelta, isOne);
    let isWhole = false;
    const add = (chunk: JsonObject): void => {
      state.begun = true;
      if (isPiece(chunk)) state.heard += 1;
      chunks.add(read(chunk, false));
      state.finished = chunks.isFinished();
      state.done ||= isOver?.() === true;
    };
    return {
      // An event of the name `error` is one, however it is wrapped, unless it is a piece of the answer after all.
      onObject: (chunk, name) =>
        add(name === "error" && (chunk["error"] ?? chunk["choices"]) === undefined ? { error: chunk } : chunk),
      onError: (error) => add({ error }),
      onEnd: chunks.end,
      whole: (given) => {
        isWhole = true;
        const body = read(given, true);
        const choices = listOf(body["choices"]).filter(isObject);
        chunks.add({ ...body, choices: choices.map((choice, index) => ({ index, ...withPlaces(choice) })) });
        // A body without choices says what went wrong, under whatever name.
        if (body["choices"] === undefined) chunks.add({ error: body });
      },
      decoded: chunks.decoded,
      outcomeOf: (chat, setting) => outcomeOf(chat, isWhole ? null : state, setting),
      failed,
    };
  });

/** Gives the calls of a body their places as indexes: each is another call, even if ids repeat. */
const withPlaces = (choice: JsonObject): JsonObject => {
  const { message } = choice;
  const calls = isObject(message) ? listOf(message["tool_calls"]).filter(isObject) : [];
  if (!isObject(message) || calls.length < 2) return choice;
  return { ...choice, message: { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) } };
};

/** Whether a chunk has something of an answer. Servers send all kinds of chunks to keep a connection open. */
const isPiece = ({ choices, error }: JsonObject): boolean =>
  carries(error) ||
  listOf(choices).some((choice) => isObject(choice) && answering.some((name) => carries(choice[name])));

const answering = ["delta", "message", "text", "finish_reason", "error"];

/** Whether there is more than the envelope of a piece. */
const carries = (value: Json | undefined): boolean => {
  if (Array.isArray(value)) return value.some(carries);
  if (isObject(value)) return Object.entries(value).some(([name, member]) => !envelope.has(name) && carries(member));
  // DashScope writes the reason "null" in each piece but the last.
  return (value ?? "") !== "" && value !== "null";
};

const envelope: ReadonlySet<string> = new Set(["id", "index", "role", "type", "obfuscation"]);

/**
 * Decodes a whole streamed chat completion: its bytes, or pieces of them cut anywhere. Skips what it cannot read; rejects if
 * the source fails.
 */
export const decodeChatStream = (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedChat> => readAll(chatAnswer(onDelta), source);

/** @param stream the state of a stream; null for a body that came in one piece. */
const outcomeOf = (chat: DecodedChat, stream: ReadState | null, setting: FailureSetting): LlmOutcome | null => {
  const answer = answerOf(chat);
  const reason = answer?.finish_reason ?? null;
  // An error replaces the answer beside it, unless it is a body that says something.
  const isSaid = stream === null && !saysError(reason) && answer !== undefined && saysSomething(answer.message);
  if (chat.error !== undefined && !isSaid) return failed(failureOfErrorObject(chat.error, setting), chat);
  if (stream !== null && (reason === null || (reason === "" && !stream.done)))
    return failed(retryable("truncated", "the stream ended without saying why"), chat);
  if (answer === undefined) return null;
  // Gateways end an answer so if the model behind them failed.
  if (saysError(reason))
    return failed(retryable("unknown", `the server ended the answer with the reason "${reason}"`), chat);
  if (stream?.damaged === true) return failed(retryable("truncated", "a piece of the stream could not be read"), chat);
  return completed(replyFromChatMessage(withToolCall(answer.message)), reason, reportedIn(chat), (failure) =>
    failed(failure, chat),
  );
};

/** Zhipu has `network_error`. */
const saysError = (reason: string | null): boolean => /(^|_)error$/i.test(reason ?? "");

/** Turns a lone `function_call` into a tool call, the only kind of call in a thread. */
const withToolCall = (message: JsonObject): JsonObject => {
  const { function_call: called, ...others } = message;
  return isObject(called) && isText(called["name"]) && listOf(message["tool_calls"]).length === 0
    ? { ...others, tool_calls: [{ type: "function", function: called }] }
    : message;
};

/** Returns a failure with the text that came. Calls and provider fields may be incomplete, and are left out. */
const failed = (failure: Failure, chat: DecodedChat): LlmOutcome => {
  const reply = replyFromChatMessage({ ...answerOf(chat)?.message, role: "assistant", tool_calls: null });
  const content = Either.isLeft(reply) ? undefined : reply.right.content;
  return failedWith(failure, content === undefined ? undefined : { content }, usageFromWire(chat.usage));
};

/** Of several choices that were asked for, the first is the answer. */
const answerOf = (chat: DecodedChat): DecodedChoice | undefined =>
  chat.choices.find((choice) => choice.index === 0) ?? chat.choices[0];

const saysSomething = ({ content, tool_calls: calls, function_call: called, refusal }: JsonObject): boolean =>
  [content, calls, called, refusal].some((value) => (typeof value === "object" && value !== null) || Boolean(value));
