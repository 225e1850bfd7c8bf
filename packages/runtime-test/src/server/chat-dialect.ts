import { fromChatMessage } from "@colloquy/interchange";
import { type Message, messagesFromSeed } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { Dialect, Request } from "./answer.ts";
import { chatCompletion } from "./chat-completion.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { chatStream } from "./chat-stream.ts";
import { invalidRequest, type WireError } from "./wire-error.ts";

/** `POST /chat/completions` */
export const chatDialect: Dialect = {
  idPrefix: "chatcmpl-",
  half: (id) => `{"id":${JSON.stringify(id)},"object":"chat.completion","choices":[{"index":0,"mess`,
  read: (text) =>
    Either.chain((request: ChatRequest) => Either.map(answered(request))(messagesOfWire(request)))(
      parseChatRequest(text),
    ),
};

const answered =
  ({ model, parameters, stream, includeUsage }: ChatRequest) =>
  (messages: readonly Message[]): Request => ({
    model,
    messages,
    parameters,
    whole: chatCompletion,
    stream: stream ? (response, head) => chatStream(response, head, includeUsage) : null,
  });

const messagesOfWire = ({ messages }: ChatRequest): Either.Either<WireError, readonly Message[]> => {
  const drafts = [];
  for (const [index, message] of messages.entries()) {
    const draft = fromChatMessage(message);
    if (Either.isLeft(draft)) return Either.left(invalidRequest(draft.left, `messages[${index}]`, "invalid_value"));
    drafts.push(draft.right);
  }
  return Either.mapLeft((reason: string) => invalidRequest(reason, "messages", "invalid_value"))(
    messagesFromSeed(0, drafts),
  );
};
