import type { LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import { failed, outcomeOfBody, outcomeOfStream } from "./chat-answer.ts";
import { chatRequest, type ChatRequestOptions } from "./chat-request.ts";
import type { FailureSetting } from "./failure/failure.ts";
import { decodeChatBody } from "./reply/chat-body.ts";
import { chatStream } from "./reply/chat-stream.ts";
import type { AnswerStream } from "./transport/answer.ts";
import { connect, type OpenAiConnection } from "./transport/connection.ts";
import { httpHandler } from "./transport/http-handler.ts";

export type OpenAiChatOptions = ChatRequestOptions & OpenAiConnection;

/**
 * Calls any server that speaks OpenAI's chat completions. It reads the bytes itself, since the SDK's own decoding
 * loses calls and throws on what servers really send. Throws only here and at once, where the SDK can't make a client (no key),
 * or where the base URL holds credentials.
 *
 * Any byte counts as a sign of life for `idleTimeoutMs`, comments too: that is how servers say that a model still
 * thinks or waits its turn. One that sends them for ever is stopped by the limit `deadlineMs` of the turn.
 *
 * The model is offered exactly the tools of the call, and none for summaries. An output that the call wants is asked for by
 * `response_format` (`native`), by a tool that has to be called (`tool`), or in words (`prompted`).
 *
 * Redirects are not followed. The client's keys are taken out of whatever the server sends: reply, pieces and failures.
 *
 * Of the options a copy is kept, but for a `client`: whatever becomes of them later changes no call.
 */
export const openaiChat = (given: OpenAiChatOptions): LlmHandler => {
  const { client, options } = connect<ChatRequestOptions>("openaiChat", given, optionNames);
  return httpHandler({
    client,
    path: "/chat/completions",
    request: (call, declared) => chatRequest(call, options, declared),
    stream: answerStream,
    outcomeOfBody: outcomeOfPlainBody,
  });
};

const optionNames = { model: true, tools: true, stream: true, includeUsage: true } as const;

const answerStream = (onDelta: (delta: LlmDelta) => void): AnswerStream => {
  const { feed, end, state, decoded } = chatStream(onDelta);
  return {
    feed,
    end,
    state,
    outcome: (setting) => outcomeOfStream(decoded(), state, setting),
    failed: (failure) => failed(failure, decoded()),
  };
};

const outcomeOfPlainBody = (body: string, setting: FailureSetting): LlmOutcome | null => {
  const chat = decodeChatBody(body);
  return chat === null ? null : outcomeOfBody(chat, setting);
};
