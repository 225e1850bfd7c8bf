import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { replyFromResponseItems } from "@colloquy/interchange";
import type { CallLlm, Failure, Json, JsonObject, ReplyDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { failureOfErrorObject, type FailureSetting, truncated } from "./failure/failure.ts";
import { decodeResponseBody, type DecodedResponse, responseStream } from "./reply/response-stream.ts";
import { isObject, listOf } from "./reply/loose-json.ts";
import { completed, reportedIn } from "./reply/nothing-said.ts";
import type { AnswerStream } from "./transport/answer.ts";

/** One streamed answer of the Responses API. */
export const streamOfResponse = (onDelta: (delta: LlmDelta) => void, call: CallLlm): AnswerStream => {
  const stream = responseStream(onDelta);
  const { decoded, state } = stream;
  return {
    ...stream,
    outcome: (setting) => {
      const response = decoded();
      return state.damaged && response.error === undefined
        ? failed(truncated("a piece of the stream could not be read"), response)
        : outcomeOfResponse(response, setting, call);
    },
    failed: (failure) => failed(failure, decoded()),
  };
};

/** How a body that came in one piece ended the call. Null when it holds neither an answer nor an error. */
export const outcomeOfResponseBody = (body: string, setting: FailureSetting, call: CallLlm): LlmOutcome | null => {
  const response = decodeResponseBody(body);
  return response === null ? null : outcomeOfResponse(response, setting, call);
};

const outcomeOfResponse = (response: DecodedResponse, setting: FailureSetting, call: CallLlm): LlmOutcome => {
  const { error, status } = response;
  if (error !== undefined) return failed(failureOfError(error, setting), response);
  if (status === null) return failed(truncated("the stream ended without saying how"), response);
  if (notAnswered.has(status)) return failed(failureOfStatus(status), response);
  const reply = replyOf(response.output, call);
  if (Either.isLeft(reply))
    return failed({ kind: "unknown", retryable: true, message: reply.left.reason }, { ...response, output: [] });
  const finishReason = finishReasonOf(response, reply.right);
  return completed({ reply: reply.right, finishReason, ...reportedIn(response) }, (nothing) =>
    failed(nothing, response),
  );
};

/**
 * Where an output is wanted, it is the final answer: what was said on the way to it is reasoning then, and goes back as the
 * item that it was.
 */
const replyOf = (output: readonly JsonObject[], call: CallLlm): ReturnType<typeof replyFromResponseItems> => {
  if (call.output === undefined || !output.some((item) => item["phase"] === "final_answer"))
    return replyFromResponseItems(output);
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
  if (status === "incomplete") return reason === "max_output_tokens" ? "length" : (reason ?? "incomplete");
  // Servers complete a response although an item of it was cut.
  const cut = output.find((item) => item["status"] === "incomplete" || item["status"] === "failed");
  if (cut !== undefined && isAnswer(cut)) return "incomplete";
  return toolCalls.length > 0 ? "tool_calls" : "stop";
};

/** A tool that ran at the server may fail, and the answer still be whole. */
const isAnswer = ({ type }: JsonObject): boolean =>
  type === "message" || type === "function_call" || type === "custom_tool_call";

/** The call failed; what had come of the answer goes with it. */
const failed = (failure: Failure, response: DecodedResponse): LlmOutcome => {
  const partial = partialOf(response.output);
  return {
    type: "failed",
    failure,
    ...(partial === undefined ? {} : { partial }),
    ...reportedIn({ usage: response.usage }),
  };
};

/** The texts that arrived, without calls and items: they may be incomplete, and half a signature is worthless. */
const partialOf = (output: readonly JsonObject[]): ReplyDraft | undefined => {
  const reply = replyFromResponseItems(output);
  if (Either.isLeft(reply)) return undefined;
  const { content = [] } = reply.right;
  if (typeof content === "string") return { content };
  const texts = content.flatMap((part) =>
    part.type === "text" || part.type === "reasoning" || part.type === "refusal"
      ? [{ type: part.type, text: part.text }]
      : [],
  );
  const [only, second] = texts;
  if (only === undefined) return undefined;
  return { content: only.type === "text" && second === undefined ? only.text : texts };
};
