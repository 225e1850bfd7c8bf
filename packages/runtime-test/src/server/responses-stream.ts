import type { Failure, JsonObject, ReportedUsage } from "@colloquy/machine";
import {
  type AnswerHead,
  type AnswerStream,
  answerStream,
  type EventSink,
  type Completed,
  deltasOf,
  given,
  headOf,
  totalOf,
} from "./answer.ts";
import { type OutputOptions, responsesOutput } from "./responses-output.ts";
import { errorOfFailure } from "./wire-error.ts";

/** The form of the wanted answer, and the request's fields that it repeats. */
export interface ResponseWish extends Omit<OutputOptions, "suffix"> {
  readonly echoed: JsonObject;
  /** Receives the answer's items when it is complete. */
  readonly onDone: (output: readonly JsonObject[]) => void;
}

/** Returns a whole answer, as `POST /responses` without `stream` does. */
export const wholeResponse = (head: AnswerHead, outcome: Completed, wish: ResponseWish): JsonObject => {
  const output = responsesOutput({ ...wish, suffix: head.id }, () => undefined);
  for (const delta of deltasOf(outcome)) output.add(delta);
  const items = output.end(statusOf(outcome));
  wish.onDone(items);
  return endedResponse(head, outcome, wish, items);
};

/** Streams the events of the Responses API on a response, each with its number. */
export const responsesStream = (response: EventSink, head: AnswerHead, wish: ResponseWish): AnswerStream => {
  let number = 0;
  const event = (type: string, fields: JsonObject): string => {
    const name = type === "error" ? type : `response.${type}`;
    return `event: ${name}\ndata: ${JSON.stringify({ type: name, sequence_number: number++, ...fields })}\n\n`;
  };
  const write = (type: string, fields: JsonObject): void => void response.write(event(type, fields));
  const output = responsesOutput({ ...wish, suffix: head.id }, write);
  return answerStream(response, {
    open: () => {
      write("created", { response: responseOf(head, wish, "in_progress", {}) });
      write("in_progress", { response: responseOf(head, wish, "in_progress", {}) });
    },
    piece: output.add,
    close: (outcome) => {
      const status = statusOf(outcome);
      const items = output.end(status);
      wish.onDone(items);
      return event(status, { response: endedResponse(head, outcome, wish, items) });
    },
    failed: (failure) => failed(failure, head, wish, event),
  });
};

/**
 * A fault of the model's server ends the response as failed; a fault of the request is an error event of the stream.
 */
const failed = (
  failure: Failure,
  head: AnswerHead,
  wish: ResponseWish,
  event: (type: string, fields: JsonObject) => string,
): string => {
  const { message, code, param } = errorOfFailure(failure);
  if (failure.kind === "bad_request" || failure.kind === "auth") return event("error", { code, message, param });
  const error = { code: failure.code ?? (failure.kind === "rate_limit" ? code : "server_error"), message };
  return event("failed", { response: responseOf(head, wish, "failed", { error }) });
};

const endedResponse = (
  head: AnswerHead,
  outcome: Completed,
  wish: ResponseWish,
  output: readonly JsonObject[],
): JsonObject => {
  const status = statusOf(outcome);
  const reason = outcome.finishReason === "content_filter" ? "content_filter" : "max_output_tokens";
  return responseOf(headOf(head, outcome), wish, status, {
    output,
    ...(status === "incomplete" ? { incomplete_details: { reason } } : {}),
    ...(outcome.usage === undefined ? {} : { usage: wireUsage(outcome.usage) }),
  });
};

const statusOf = ({ finishReason }: Completed): "completed" | "incomplete" =>
  finishReason === "length" || finishReason === "content_filter" ? "incomplete" : "completed";

const responseOf = (
  { id, created, model }: AnswerHead,
  { echoed }: ResponseWish,
  status: string,
  fields: JsonObject,
): JsonObject => ({
  id,
  object: "response",
  created_at: created,
  status,
  error: null,
  incomplete_details: null,
  model,
  output: [],
  usage: null,
  ...echoed,
  ...fields,
});

const wireUsage = (usage: ReportedUsage): JsonObject => ({
  ...given("input_tokens", usage.inputTokens),
  ...(usage.cacheReadTokens === undefined ? {} : { input_tokens_details: { cached_tokens: usage.cacheReadTokens } }),
  ...given("output_tokens", usage.outputTokens),
  ...(usage.reasoningTokens === undefined
    ? {}
    : { output_tokens_details: { reasoning_tokens: usage.reasoningTokens } }),
  ...given("total_tokens", totalOf(usage)),
  ...usage.provider,
});
