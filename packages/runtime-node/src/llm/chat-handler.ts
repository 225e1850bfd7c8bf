import type { LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import * as Either from "fp-ts/lib/Either.js";
import { failed, outcomeOfBody, outcomeOfStream } from "./chat-answer.ts";
import { chatMessages, chatRequest, type ChatRequestOptions } from "./chat-request.ts";
import type { CallLlm } from "@colloquy/machine";
import type { FailureSetting } from "./failure/failure.ts";
import { decodeChatBody } from "./reply/chat-body.ts";
import { chatStream } from "./reply/chat-stream.ts";
import type { AnswerStream } from "./transport/answer.ts";
import type { Connected } from "./transport/connection.ts";
import { httpHandler } from "./transport/http-handler.ts";
import { writerFor } from "./transport/written-messages.ts";
import { wired, wireFor } from "./wire/wired.ts";

/** Performs the calls of `openaiChat`. */
export const chatHandler = (connected: Connected<ChatRequestOptions>): LlmHandler => {
  const wireOf = wireFor(connected, "chat");
  const write = writerFor(connected, chatMessages, wireOf);
  const perform = httpHandler({
    connected,
    path: "/chat/completions",
    request: (call, offered) => Either.right(chatRequest(call, connected.options, offered, write)),
    stream: answerStream,
    outcomeOfBody: outcomeOfPlainBody,
  });
  return wired({ name: connected.handler, perform, wireOf, tools: connected.options.tools ?? [] });
};

/** Unless several were asked for, all choices are one reply. */
const isOne = ({ model }: CallLlm): boolean => !(Number(model["n"]) > 1);

const answerStream = (onDelta: (delta: LlmDelta) => void, call: CallLlm): AnswerStream => {
  const { feed, end, state, decoded } = chatStream(onDelta, undefined, isOne(call));
  return {
    feed,
    end,
    state,
    outcome: (setting) => outcomeOfStream(decoded(), state, setting),
    failed: (failure) => failed(failure, decoded()),
  };
};

const outcomeOfPlainBody = (body: string, setting: FailureSetting, call: CallLlm): LlmOutcome | null => {
  const chat = decodeChatBody(body, undefined, isOne(call));
  return chat === null ? null : outcomeOfBody(chat, setting);
};
