import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { type Failure, type JsonObject, type ReplyDraft, type ReportedUsage, saysCut } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { retryable } from "../failure/failure.ts";
import { defined, isObject, listOf } from "../json/loose-json.ts";
import { usageFromWire } from "./usage.ts";

/** The facts of an answer beside its reply. */
type Reported = Pick<Extract<LlmOutcome, { type: "completed" }>, "usage" | "model" | "responseId">;

/** Returns the facts of a decoded answer. */
export const reportedIn = ({
  usage,
  model,
  responseId,
}: Pick<Reported, "model" | "responseId"> & { readonly usage: JsonObject | null }): Reported =>
  defined({ usage: usageFromWire(usage), model, responseId });

/** Returns how a whole answer ended its call. One that cannot be read, or that has nothing, failed. */
export const completed = (
  reply: Either.Either<string, ReplyDraft>,
  finishReason: string | null,
  reported: Reported,
  failed: (failure: Failure) => LlmOutcome,
): LlmOutcome => {
  if (Either.isLeft(reply)) return failed(retryable("unknown", reply.left));
  const failure = nothingSaid(reply.right, finishReason) ?? callUnclear(reply.right, finishReason);
  return failure === null ? { type: "completed", reply: reply.right, finishReason, ...reported } : failed(failure);
};

/** Returns how a call failed, with the part of its answer that came. */
export const failedWith = (
  failure: Failure,
  partial: ReplyDraft | undefined,
  usage: ReportedUsage | undefined,
): LlmOutcome => ({ type: "failed", failure, ...defined({ partial, usage }) });

/** Returns the pieces of a reply that came in one. */
export const deltasOf = ({ content = [], toolCalls = [] }: ReplyDraft): readonly LlmDelta[] => [
  ...textsOf(content).filter(({ text }) => text !== ""),
  ...toolCalls.map(({ id, name, arguments: given }, index): LlmDelta => ({
    type: "toolCall",
    index,
    id,
    name,
    arguments: given,
  })),
];

/** Returns the texts of a reply, without parts that only its server can read. */
export const textsOf = (content: string | readonly ReplyPart[]): readonly Exclude<LlmDelta, { type: "toolCall" }>[] =>
  partsOf(content).flatMap((part) =>
    part.type === "text" || part.type === "reasoning" || part.type === "refusal"
      ? [{ type: part.type, text: part.text }]
      : [],
  );

/**
 * Returns the failure of an answer without text, call, refusal or other part; null for any other. The finish reason decides. A
 * model may mean `stop` and say nothing (Anthropic's "Handling stop reasons" has it after results of tools), unless it only
 * thought (Gemini CLI asks again then). A full window left no room, so the prompt is too long. A reply that was cut otherwise
 * or filtered is incomplete. After any other reason (`tool_calls` without a call, Gemini's `MALFORMED_FUNCTION_CALL`,
 * DeepSeek's `insufficient_system_resource`, none) the model failed.
 */
export const nothingSaid = (
  { content = [], toolCalls = [], provider }: ReplyDraft,
  reason: string | null,
): Failure | null => {
  const parts = partsOf(content);
  const isSaid = parts.some((part) => part.type !== "reasoning" && !isBlank(part));
  const { function_call: called, audio } = provider ?? {};
  if (isSaid || toolCalls.length > 0 || called !== undefined || audio !== undefined) return null;
  const word = (reason ?? "").toLowerCase().replaceAll("-", "_");
  const hasThought = parts.some((part) => part.type === "reasoning");
  const ended = `ended with the reason ${JSON.stringify(reason)}`;
  if (saysFull(word))
    return {
      kind: "context_length",
      retryable: false,
      message: `the prompt left no room for an answer, which ${ended}`,
    };
  if (incomplete.test(word) || (stopped.has(word) && !hasThought)) return null;
  const only = hasThought ? ", only reasoning" : "";
  return retryable("unknown", `the server's answer has neither text nor calls${only}, and ${ended}`);
};

/**
 * Returns the failure of an answer with calls and an unknown reason; null for any other. The reason may be a cut or a block (vLLM's
 * `repetition`, Vertex's `MODEL_ARMOR`, Gemini's `OTHER`), and to ask again is safer than to run half of what a model wanted.
 */
const callUnclear = ({ toolCalls = [] }: ReplyDraft, reason: string | null): Failure | null => {
  const [call] = toolCalls;
  if (call === undefined || saysCut(reason) || saysDone.test(reason ?? "")) return null;
  const message = `the server's answer has the call of "${call.name}", and ended with the unknown reason ${JSON.stringify(reason)}`;
  return retryable("unknown", message);
};

/** A whole body may have no reason. */
const saysDone =
  /^$|^(?!.*unspecified).*(stop|tool|function|(^|_)end|eos|eot|complete|finish|done|normal|natural|success)/i;

type ReplyPart = Exclude<ReplyDraft["content"], string | undefined>[number];

const partsOf = (content: string | readonly ReplyPart[]): readonly ReplyPart[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

/** A message of the Responses API that has no content yet is kept as it came. */
const isBlank = (part: ReplyPart): boolean => {
  if (part.type !== "opaque") return "text" in part && part.text.trim() === "";
  const { value } = part.value;
  return isObject(value) && value["type"] === "message" && listOf(value["content"]).length === 0;
};

const stopped: ReadonlySet<string> = new Set(["stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"]);

/** Whether a reason is a full window: Anthropic's `model_context_window_exceeded`, Mistral's `model_length`. */
export const saysFull = (reason: string): boolean => /context|^model_length$/i.test(reason);

/** OpenAI, Anthropic, Gemini, Bedrock (`guardrail_intervened`), Zhipu (`sensitive`). */
const incomplete =
  /^(length|max_.*tokens|content_filter(ed)?|sensitive|guardrail_intervened|(image_)?safety|recitation|blocklist|prohibited_content|spii|language|refusal)$/;
