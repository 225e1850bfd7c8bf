import type { ServerResponse } from "node:http";
import type { Clock, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type CallLlm, digestOfPrompt, type Message, messagesFromSeed } from "@colloquy/machine";
import { fromChatMessage } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { type AnswerHead, chatCompletion } from "./chat-completion.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { type ChatStream, chatStream } from "./chat-stream.ts";
import { sendError, sendJson } from "./json-response.ts";
import type { RecordedRequest } from "./recorded-request.ts";
import { errorOfFailure, invalidRequest, testError, type WireError } from "./wire-error.ts";

/** What answers a request; `signal` is aborted when the client goes away. */
export type Endpoint = (request: RecordedRequest, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/** `POST /chat/completions`, answered by a model. With `models`, any other name is refused as unknown. */
export const chatEndpoint =
  (model: LlmHandler, clock: Clock, models: readonly string[] | undefined): Endpoint =>
  async ({ number, text }, response, signal) => {
    const parsed = parseChatRequest(text);
    if (Either.isLeft(parsed)) return sendError(response, parsed.left);
    const request = parsed.right;
    if (models?.includes(request.model) === false) return sendError(response, unknownModel(request.model));
    const messages = messagesOfWire(request);
    if (Either.isLeft(messages)) return sendError(response, messages.left);

    const created = Math.floor(clock.now() / 1000);
    const head: AnswerHead = { id: `chatcmpl-${number}`, created, model: request.model };
    const stream = request.stream ? chatStream(response, head, request.includeUsage) : null;
    const call = callOf(number, request, messages.right);
    const onDelta = stream?.send ?? ((): void => undefined);
    try {
      const outcome = await model(call, { signal, onDelta, clock, tools: [] });
      if (!signal.aborted) finish(outcome, head, stream, response);
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (stream?.started() === true) stream.fail({ kind: "unknown", message: reason, retryable: false });
      else sendError(response, testError(reason));
    }
  };

const finish = (outcome: LlmOutcome, head: AnswerHead, stream: ChatStream | null, response: ServerResponse): void => {
  if (outcome.type === "completed") {
    if (stream === null) sendJson(response, 200, chatCompletion(head, outcome));
    else stream.complete(outcome);
    return;
  }
  const { failure } = outcome;
  if (stream !== null && (stream.started() || failure.kind === "truncated")) stream.fail(failure);
  else if (failure.kind === "network") response.destroy();
  else if (failure.kind === "truncated") sendHalf(response, head);
  else sendError(response, errorOfFailure(failure));
};

/** An answer that breaks off, as the failure says. */
const sendHalf = (response: ServerResponse, { id }: AnswerHead): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(`{"id":${JSON.stringify(id)},"object":"chat.completion","choices":[{"index":0,"mess`);
};

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

/** The call as a machine would have made it: all that the model knows is the messages. */
const callOf = (number: number, request: ChatRequest, messages: readonly Message[]): CallLlm => ({
  type: "callLlm",
  id: `loopback/${number}.1#1`,
  threadId: "loopback",
  turn: number,
  step: 1,
  attempt: 1,
  purpose: "answer",
  messages,
  promptDigest: digestOfPrompt(messages),
  model: { ...request.parameters, model: request.model },
});

const unknownModel = (name: string): WireError => ({
  ...invalidRequest(`The model '${name}' does not exist or you do not have access to it.`, null, "model_not_found"),
  status: 404,
});
