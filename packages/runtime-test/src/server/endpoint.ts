import type { ServerResponse } from "node:http";
import type { Clock, LlmHandler, LlmOutcome } from "@colloquy/host";
import { type CallLlm, digestOfPrompt } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { AnswerHead, AnswerStream, Dialect, Request } from "./answer.ts";
import { sendError, sendJson } from "./json-response.ts";
import type { RecordedRequest } from "./recorded-request.ts";
import { errorOfFailure, invalidRequest, testError, type WireError } from "./wire-error.ts";

/** Answers a request; `signal` is aborted when the client disconnects. */
export type Endpoint = (request: RecordedRequest, response: ServerResponse, signal: AbortSignal) => Promise<void>;

/** Answers a POST of one dialect with a model. With `models`, refuses any other name as unknown. */
export const modelEndpoint =
  (dialect: Dialect, model: LlmHandler, clock: Clock, models: readonly string[] | undefined): Endpoint =>
  async ({ number, text }, response, signal) => {
    const read = dialect.read(text);
    if (Either.isLeft(read)) return sendError(response, read.left);
    const request = read.right;
    if (models?.includes(request.model) === false) return sendError(response, unknownModel(request.model));

    const created = Math.floor(clock.now() / 1000);
    const head: AnswerHead = { id: `${dialect.idPrefix}${number}`, created, model: request.model };
    const stream = request.stream?.(response, head) ?? null;
    const onDelta = stream?.send ?? ((): void => undefined);
    try {
      const outcome = await model(callOf(number, request), { signal, onDelta, clock, tools: [] });
      if (!signal.aborted) finish(outcome, { dialect, request, head, stream, response });
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      if (stream?.started() === true) stream.fail({ kind: "unknown", message: reason, retryable: false });
      else sendError(response, testError(reason));
    }
  };

interface Answering {
  readonly dialect: Dialect;
  readonly request: Request;
  readonly head: AnswerHead;
  readonly stream: AnswerStream | null;
  readonly response: ServerResponse;
}

const finish = (outcome: LlmOutcome, { dialect, request, head, stream, response }: Answering): void => {
  if (outcome.type === "completed") {
    if (stream === null) sendJson(response, 200, request.whole(head, outcome));
    else stream.complete(outcome);
    return;
  }
  const { failure } = outcome;
  if (stream !== null && (stream.started() || failure.kind === "truncated")) stream.fail(failure);
  else if (failure.kind === "network") response.destroy();
  else if (failure.kind === "truncated") sendHalf(response, dialect.half(head.id));
  else sendError(response, errorOfFailure(failure));
};

/** Sends an answer that breaks off, in the way that the failure says. */
const sendHalf = (response: ServerResponse, half: string): void => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(half);
};

/** Returns the call as a machine would request it; the model knows only the messages. */
const callOf = (number: number, { messages, parameters, model }: Request): CallLlm => ({
  type: "callLlm",
  id: `loopback/${number}.1#1`,
  threadId: "loopback",
  turn: number,
  step: 1,
  attempt: 1,
  purpose: "answer",
  messages,
  promptDigest: digestOfPrompt(messages),
  model: { ...parameters, model },
});

const unknownModel = (name: string): WireError => ({
  ...invalidRequest(`The model '${name}' does not exist or you do not have access to it.`, null, "model_not_found"),
  status: 404,
});
