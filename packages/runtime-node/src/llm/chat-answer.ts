import type { LlmOutcome } from "@colloquy/host";
import type { CallLlm, Failure, JsonObject, ReplyDraft } from "@colloquy/machine";
import { replyFromChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import type { DecodedChat, DecodedChoice } from "./reply/chat-chunks.ts";
import { type ChatFormat, chatStream, decodeChatBody } from "./reply/chat-stream.ts";
import { failureOfErrorObject, type FailureSetting, truncated } from "./failure/failure.ts";
import { completed, reportedIn } from "./reply/nothing-said.ts";
import type { Endpoint } from "./transport/answer.ts";

/** Reads chat completions, or what is read as such. */
export const chatAnswers = (formatOf: (call: CallLlm) => ChatFormat): Pick<Endpoint, "stream" | "outcomeOfBody"> => ({
  stream: (onDelta, call) => {
    const stream = chatStream(onDelta, formatOf(call));
    return {
      ...stream,
      outcome: (setting) => outcomeOfStream(stream.decoded(), stream.state, setting),
      failed: (failure) => failed(failure, stream.decoded()),
    };
  },
  outcomeOfBody: (body, setting, call) => {
    const chat = decodeChatBody(body, formatOf(call));
    return chat === null ? null : outcomeOfBody(chat, setting);
  },
});

/** How a plain body, decoded, ended the call. Null when it holds neither an answer nor an error. */
const outcomeOfBody = (chat: DecodedChat, setting: FailureSetting): LlmOutcome | null => {
  const answer = answerOf(chat);
  if (answer !== undefined && endedInError(answer)) return failed(failureAtEnd(chat, setting), chat);
  // An error beside an answer is a server's way of saying that there was none.
  if (answer !== undefined && saysSomething(answer.message)) return answered(chat, answer);
  if (chat.error !== undefined) return failed(failureOfErrorObject(chat.error, setting), chat);
  return answer === undefined ? null : answered(chat, answer);
};

/** How a stream, read to its end, ended the call. */
const outcomeOfStream = (
  chat: DecodedChat,
  state: { readonly done: boolean; readonly damaged: boolean },
  setting: FailureSetting,
): LlmOutcome => {
  if (chat.error !== undefined) return failed(failureOfErrorObject(chat.error, setting), chat);
  const answer = answerOf(chat);
  const reason = answer?.finish_reason ?? null;
  if (answer === undefined || reason === null || (reason === "" && !state.done)) {
    return failed(truncated("the stream ended without saying why"), chat);
  }
  if (endedInError(answer)) return failed(failureAtEnd(chat, setting), chat);
  if (state.damaged) return failed(truncated("a piece of the stream could not be read"), chat);
  return answered(chat, answer);
};

/** Gateways end an answer so when the model behind them failed, whether they say why or not. */
const endedInError = ({ finish_reason: reason }: DecodedChoice): boolean => reason === "error";

const failureAtEnd = ({ error }: DecodedChat, setting: FailureSetting): Failure =>
  error === undefined
    ? { kind: "unknown", retryable: true, message: 'the server ended the answer with the reason "error"' }
    : failureOfErrorObject(error, setting);

/** The call failed; what had come of the answer goes with it. */
const failed = (failure: Failure, chat: DecodedChat): LlmOutcome => {
  const partial = partialOf(chat);
  return {
    type: "failed",
    failure,
    ...(partial === undefined ? {} : { partial }),
    ...reportedIn({ usage: chat.usage }),
  };
};

const answered = (chat: DecodedChat, answer: DecodedChoice): LlmOutcome => {
  const reply = replyFromChatMessage(answer.message);
  if (Either.isLeft(reply))
    return failed({ kind: "unknown", retryable: true, message: reply.left }, { ...chat, choices: [] });
  return completed({ reply: reply.right, finishReason: answer.finish_reason, ...reportedIn(chat) }, (nothing) =>
    failed(nothing, chat),
  );
};

/** Where several were asked for, the first is the answer. */
const answerOf = (chat: DecodedChat): DecodedChoice | undefined =>
  chat.choices.find((choice) => choice.index === 0) ?? chat.choices[0];

const saysSomething = ({ content, tool_calls: calls, function_call: called, refusal }: JsonObject): boolean =>
  [content, calls, called, refusal].some((value) => (typeof value === "object" && value !== null) || Boolean(value));

/** The text that arrived, without calls and provider fields: they may be incomplete, and half a signature is worthless. */
const partialOf = (chat: DecodedChat): ReplyDraft | undefined => {
  const answer = answerOf(chat);
  const reply = answer === undefined ? undefined : replyFromChatMessage({ ...answer.message, tool_calls: null });
  if (reply === undefined || Either.isLeft(reply) || reply.right.content === undefined) return undefined;
  return { content: reply.right.content };
};
