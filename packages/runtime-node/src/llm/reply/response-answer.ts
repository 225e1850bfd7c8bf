import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { replyFromResponseItems } from "@colloquy/interchange";
import type { CallLlm, Failure, Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, retryable } from "../failure/failure.ts";
import { isBareError, isError } from "../failure/response-facts.ts";
import { type AnswerReader, newState, readAll, readWhole } from "./answer-reader.ts";
import { jsonEvents } from "./json-events.ts";
import { isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";
import { completed, failedWith, reportedIn, textsOf } from "./outcome.ts";
import { ResponseItems } from "./response-items.ts";
import { laterReport, usageFromWire } from "./usage.ts";

/** What an answer of the Responses API says, whether it came in one piece or in many. In the words of the wire. */
export interface DecodedResponse {
  /** The items of the output, in order. */
  readonly output: readonly JsonObject[];
  /** How it ended, such as `completed`, `incomplete`, `failed`; null when it did not come to its end. */
  readonly status: string | null;
  /** Why it is incomplete. */
  readonly reason?: string;
  /** Null when there was no report. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** What the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

/**
 * Reads an answer of the Responses API as it comes, and reports the pieces of the reply. Items are taken as they are when they
 * are done, which alone has all that is encrypted in them.
 */
export const responseAnswer = (
  onDelta: (delta: LlmDelta) => void = () => {},
  { output: wanted }: Pick<CallLlm, "output"> = {},
): AnswerReader & { readonly decoded: () => DecodedResponse } => {
  const state = newState();
  const items = new ResponseItems(onDelta);
  let said: Omit<DecodedResponse, "output" | "error"> = { status: null, usage: null };
  let error: Json | undefined;

  const finish = (): void => {
    state.begun = true;
    state.heard += 1;
    state.finished = true;
    state.done = true;
  };
  const fail = (reported: Json): void => {
    error ??= reported;
    finish();
  };
  const addFacts = (response: JsonObject): void => {
    const facts = factsOf(response);
    said = { ...said, ...facts, usage: laterReport(said.usage, facts.usage ?? null) };
  };
  const onEvent = (event: JsonObject, name: string | undefined): void => {
    if (state.finished) return;
    const type = isText(event["type"]) ? event["type"] : (name ?? "");
    if (type === "error" || (type === "" && (isError(event["error"]) || isBareError(event))))
      return fail(errorOf(event));
    state.begun = true;
    if (isPiece(event)) state.heard += 1;
    const response = isObject(event["response"]) ? event["response"] : nothing;
    if (response !== nothing) addFacts(response);
    if (type === "response.output_item.added") items.begin(event);
    else if (type === "response.output_item.done") items.finish(event);
    else if (terminal.has(type)) {
      said = { ...said, status: statusAt(type, response) };
      if (isObject(response["error"])) error ??= response["error"];
      items.complete(listOf(response["output"]));
      finish();
    } else items.grow(event, type);
  };
  const decoded = (): DecodedResponse => ({
    ...said,
    output: items.items(),
    status: !state.finished ? null : said.status === "completed" && items.isCut() ? "incomplete" : said.status,
    ...(error === undefined ? {} : { error }),
  });
  return {
    ...jsonEvents({
      onObject: onEvent,
      onError: fail,
      onDone: () => void (state.begun = state.done = true),
      onDamage: () => (state.damaged ||= !state.finished),
    }),
    whole: (body) => {
      const { output, error: reported } = body;
      // A body without an output is about what went wrong, under whatever name.
      error = reported ?? (Array.isArray(output) ? undefined : body);
      said = { ...said, status: Array.isArray(output) ? "completed" : null };
      addFacts(body);
      for (const [index, item] of listOf(output).entries()) items.finish({ item, output_index: index });
      finish();
    },
    state,
    decoded,
    outcome: (setting) => (state.begun ? outcomeOf(decoded(), state, setting, wanted !== undefined) : null),
    failed: (failure) => failed(failure, decoded()),
  };
};

/**
 * Decodes a whole streamed answer of the Responses API: its bytes, or pieces of them cut anywhere. What can't be read is
 * passed over; a source that fails makes the promise fail.
 */
export const decodeResponseStream = async (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedResponse> => {
  const answer = responseAnswer(onDelta);
  await readAll(answer, source);
  return answer.decoded();
};

/** Decodes the body of an answer that came in one piece. Null when it is nothing of the kind. */
export const decodeResponseBody = (text: string): DecodedResponse | null => {
  const answer = responseAnswer();
  readWhole(answer, text);
  return answer.state.begun ? answer.decoded() : null;
};

const nothing: JsonObject = {};

/** Whether an event is about an item of the output. Servers send all kinds of events to keep a connection open. */
const isPiece = ({ delta, item, item_id: id, output_index: index }: JsonObject): boolean =>
  (delta ?? item ?? id ?? index ?? "") !== "";

/** How each event that ends an answer says it ended. OpenRouter ends it with `response.done`. */
const terminal: ReadonlyMap<string, string> = new Map([
  ["response.completed", "completed"],
  ["response.done", "completed"],
  ["response.incomplete", "incomplete"],
  ["response.failed", "failed"],
]);

/** Some servers end an answer that they still call unfinished. */
const statusAt = (type: string, { status }: JsonObject): string | null =>
  isText(status) && status !== "in_progress" && status !== "queued" ? status : (terminal.get(type) ?? null);

/** An event of the type `error` has its facts under `error`, or beside its type. */
const errorOf = ({ type: _type, sequence_number: _number, ...facts }: JsonObject): Json => facts["error"] ?? facts;

/** What a response says beside its output. What says nothing leaves what was said before. */
const factsOf = (response: JsonObject): Partial<Omit<DecodedResponse, "output" | "error">> => {
  const { status, incomplete_details: details, usage, model, id } = response;
  const reason = isObject(details) ? details["reason"] : undefined;
  return {
    ...(isText(status) ? { status } : {}),
    ...(isText(reason) ? { reason } : {}),
    ...(isObject(usage) ? { usage } : {}),
    ...(isText(model) ? { model } : {}),
    ...(isText(id) ? { responseId: id } : {}),
  };
};

const outcomeOf = (
  response: DecodedResponse,
  { damaged }: { readonly damaged: boolean },
  setting: FailureSetting,
  wantsOutput: boolean,
): LlmOutcome => {
  const { error, status } = response;
  if (error !== undefined) return failed(failureOfError(error, setting), response);
  if (damaged) return failed(retryable("truncated", "a piece of the stream could not be read"), response);
  if (status === null) return failed(retryable("truncated", "the stream ended without saying how"), response);
  if (notAnswered.has(status)) return failed(failureOfStatus(status), response);
  const reply = Either.mapLeft(({ reason }: { readonly reason: string }) => reason)(
    replyOf(response.output, wantsOutput),
  );
  const finishReason = finishReasonOf(response, Either.isRight(reply) ? reply.right : {});
  return completed(reply, finishReason, reportedIn(response), (failure) => failed(failure, response));
};

/**
 * Where an output is wanted, it is the final answer: what was said on the way to it is reasoning then, and goes back as the
 * item that it was.
 */
const replyOf = (output: readonly JsonObject[], wantsOutput: boolean): ReturnType<typeof replyFromResponseItems> => {
  if (!wantsOutput || !output.some((item) => item["phase"] === "final_answer")) return replyFromResponseItems(output);
  const items = output.map((said): JsonObject => {
    const isOnTheWay = said["type"] === "message" && said["phase"] === "commentary";
    return isOnTheWay ? { type: "reasoning", summary: listOf(said["content"]).filter(isObject), said } : said;
  });
  return Either.map((reply: ReplyDraft): ReplyDraft => {
    const { content } = reply;
    return content === undefined || typeof content === "string" ? reply : { ...reply, content: content.map(asSaid) };
  })(replyFromResponseItems(items));
};

type ReplyPart = Exclude<ReplyDraft["content"], string | undefined>[number];

const asSaid = (part: ReplyPart): ReplyPart => {
  const fields = part.type === "reasoning" ? part.provider?.["responses"] : undefined;
  const item = isObject(fields) ? fields["item"] : undefined;
  const said = isObject(item) ? item["said"] : undefined;
  return part.type === "reasoning" && isObject(said) ? { ...part, provider: { responses: { item: said } } } : part;
};

/** Without an answer that could be read by and by: nobody asked for it in the background. */
const notAnswered: ReadonlySet<string> = new Set(["failed", "cancelled", "queued", "in_progress"]);

const failureOfStatus = (status: string): Failure => ({
  kind: "unknown",
  retryable: status !== "queued",
  message: `the server ended its answer with the status "${status}", and does not say why`,
});

/** A stream's failure has no headers: how long to wait stands in its message. */
const failureOfError = (error: Json, setting: FailureSetting): Failure => {
  const failure = failureOfErrorObject(error, setting);
  const [, amount, unit] = /\btry again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(failure.message) ?? [];
  if (amount === undefined || !failure.retryable) return failure;
  return { ...failure, retryAfterMs: Math.ceil(Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1000)) };
};

/** In the words of chat completions, lest whoever reads it have to know which API was called. */
const finishReasonOf = ({ status, reason, output }: DecodedResponse, { toolCalls = [] }: ReplyDraft): string => {
  // Servers complete a response although it, or an item of it, was cut.
  if (reason !== undefined) return reason === "max_output_tokens" ? "length" : reason;
  if (status === "incomplete" || output.some(isCut)) return "incomplete";
  return toolCalls.length > 0 ? "tool_calls" : "stop";
};

/** A tool that ran at the server may fail, and the answer still be whole. Some servers leave whole items in progress. */
const isCut = ({ type, status, arguments: given }: JsonObject): boolean => {
  const isCall = type === "function_call";
  if (!isCall && type !== "message" && type !== "custom_tool_call") return false;
  if (status === "in_progress") return isCall && parseJson(textOf(given)) === undefined;
  return status === "incomplete" || status === "failed";
};

/** The call failed; the texts that had come go with it. Calls and items may be incomplete, and half a signature is worthless. */
const failed = (failure: Failure, { output, usage }: DecodedResponse): LlmOutcome => {
  const reply = replyFromResponseItems(output);
  const texts = Either.isLeft(reply) ? [] : textsOf(reply.right.content ?? []);
  const [only] = texts;
  const content = texts.length === 1 && only?.type === "text" ? only.text : texts;
  return failedWith(failure, only === undefined ? undefined : { content }, usageFromWire(usage));
};
