import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { replyFromResponseItems } from "@colloquy/interchange";
import type { CallLlm, Failure, Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, retryable } from "../failure/failure.ts";
import { isBareError, isError } from "../failure/response-facts.ts";
import { defined, isObject, isText, listOf, parseJson, textOf } from "../json/loose-json.ts";
import { type AnswerReader, answerReader, readAll, readWhole } from "./answer-reader.ts";
import { completed, failedWith, reportedIn, textsOf } from "./outcome.ts";
import { ResponseItems } from "./response-items.ts";
import { laterReport, usageFromWire } from "./usage.ts";

/** An answer of the Responses API, whether it came in one piece or in many, with the names of the wire. */
export interface DecodedResponse {
  /** The items of the output, in order. */
  readonly output: readonly JsonObject[];
  /** How it ended, such as `completed`, `incomplete`, `failed`; null if it did not end. */
  readonly status: string | null;
  /** Why it is incomplete. */
  readonly reason?: string;
  /** Null if there was no report. */
  readonly usage: JsonObject | null;
  readonly model?: string;
  readonly responseId?: string;
  /** The error that the server reported in place of an answer, or in the middle of one. */
  readonly error?: Json;
}

/**
 * Reads an answer of the Responses API as it comes, and reports the pieces of the reply. Only a finished item has all that is
 * encrypted in it, so finished items replace their pieces.
 */
export const responseAnswer = (
  onDelta: (delta: LlmDelta) => void = () => {},
  { output: wanted }: Pick<CallLlm, "output"> = {},
): AnswerReader<DecodedResponse> =>
  answerReader((state) => {
    const items = new ResponseItems(onDelta);
    let said: Omit<DecodedResponse, "output" | "error"> = { status: null, usage: null };
    let error: Json | undefined;
    const finish = (reported?: Json): void => {
      error ??= reported;
      state.begun = state.finished = state.done = true;
      state.heard += 1;
    };
    const addFacts = (response: JsonObject): void => {
      const { status, incomplete_details: details, usage, model, id: responseId } = response;
      const reason = isObject(details) ? details["reason"] : undefined;
      const texts = Object.entries({ status, reason, model, responseId }).filter(([, value]) => isText(value));
      const report = laterReport(said.usage, isObject(usage) ? usage : null);
      said = { ...said, ...Object.fromEntries(texts), usage: report };
    };
    return {
      onObject: (event, name) => {
        if (state.finished) return;
        const type = isText(event["type"]) ? event["type"] : (name ?? "");
        if (type === "error" || (type === "" && (isError(event["error"]) || isBareError(event))))
          return finish(errorOf(event));
        state.begun = true;
        if (isPiece(event)) state.heard += 1;
        const response = isObject(event["response"]) ? event["response"] : {};
        addFacts(response);
        const ending = terminal.get(type);
        if (type === "response.output_item.added") items.begin(event);
        else if (type === "response.output_item.done") items.finish(event);
        else if (ending === undefined) items.grow(event, type);
        else {
          // Some servers end an answer that they still call unfinished.
          const { status, error: reported, output } = response;
          const isEnded = isText(status) && status !== "in_progress" && status !== "queued";
          said = { ...said, status: isEnded ? status : ending };
          items.complete(listOf(output));
          finish(isObject(reported) ? reported : undefined);
        }
      },
      onError: finish,
      whole: (body) => {
        const { output, error: reported } = body;
        // A body without an output says what went wrong, under whatever name.
        error = reported ?? (Array.isArray(output) ? undefined : body);
        said = { ...said, status: Array.isArray(output) ? "completed" : null };
        addFacts(body);
        for (const [index, item] of listOf(output).entries()) items.finish({ item, output_index: index });
        finish();
      },
      decoded: () => ({
        ...said,
        output: items.items(),
        status: !state.finished ? null : said.status === "completed" && items.isCut() ? "incomplete" : said.status,
        ...defined({ error }),
      }),
      outcomeOf: (response, setting) => outcomeOf(response, state, setting, wanted !== undefined),
      failed,
    };
  });

/**
 * Decodes a whole streamed answer of the Responses API: its bytes, or pieces of them cut anywhere. Skips what it cannot read;
 * rejects if the source fails.
 */
export const decodeResponseStream = (
  source: Uint8Array | AsyncIterable<Uint8Array>,
  onDelta?: (delta: LlmDelta) => void,
): Promise<DecodedResponse> => readAll(responseAnswer(onDelta), source);

/** Decodes the body of an answer that came in one piece. Returns null for anything else. */
export const decodeResponseBody = (text: string): DecodedResponse | null => {
  const answer = responseAnswer();
  readWhole(answer, text);
  return answer.state.begun ? answer.decoded() : null;
};

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

/** An event of the type `error` has its facts under `error`, or beside its type. */
const errorOf = ({ type: _type, sequence_number: _number, ...facts }: JsonObject): Json => facts["error"] ?? facts;

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
  // Nobody asked for an answer in the background, to be read later.
  if (["failed", "cancelled", "queued", "in_progress"].includes(status)) {
    const message = `the server ended its answer with the status "${status}", and does not say why`;
    return failed({ ...retryable("unknown", message), retryable: status !== "queued" }, response);
  }
  const reply = Either.mapLeft(({ reason }: { readonly reason: string }) => reason)(
    replyOf(response.output, wantsOutput),
  );
  const finishReason = finishReasonOf(response, Either.isRight(reply) ? reply.right : {});
  return completed(reply, finishReason, reportedIn(response), (failure) => failed(failure, response));
};

/** A wanted output is the final answer: messages on the way to it become reasoning, and go back as the items that they were. */
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

/** A stream's failure has no headers: its message says how long to wait. */
const failureOfError = (error: Json, setting: FailureSetting): Failure => {
  const failure = failureOfErrorObject(error, setting);
  const [, amount, unit] = /\btry again in (\d+(?:\.\d+)?) ?(ms|s)\b/i.exec(failure.message) ?? [];
  if (amount === undefined || !failure.retryable) return failure;
  return { ...failure, retryAfterMs: Math.ceil(Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1000)) };
};

/** Returns the finish reason of chat completions, so that readers need not know the API. */
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

/** Returns a failure with the texts that came. Calls and other items may be incomplete, and are left out. */
const failed = (failure: Failure, { output, usage }: DecodedResponse): LlmOutcome => {
  const reply = replyFromResponseItems(output);
  const texts = Either.isLeft(reply) ? [] : textsOf(reply.right.content ?? []);
  const [only] = texts;
  const content = texts.length === 1 && only?.type === "text" ? only.text : texts;
  return failedWith(failure, only === undefined ? undefined : { content }, usageFromWire(usage));
};
