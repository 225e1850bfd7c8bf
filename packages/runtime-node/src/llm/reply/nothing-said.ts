import type { LlmOutcome } from "@colloquy/host";
import type { Failure, JsonObject, ReplyDraft } from "@colloquy/machine";
import { isObject, listOf } from "./loose-json.ts";
import { usageFromWire } from "./usage.ts";

type Completed = Extract<LlmOutcome, { type: "completed" }>;

/** Returns how a whole answer ended its call: one that has nothing failed. */
export const completed = (answer: Omit<Completed, "type">, failed: (failure: Failure) => LlmOutcome): LlmOutcome => {
  const nothing = nothingSaid(answer.reply, answer.finishReason);
  return nothing === null ? { type: "completed", ...answer } : failed(nothing);
};

/** Returns what an answer says beside its reply. */
export const reportedIn = ({
  usage: report,
  model,
  responseId,
}: Pick<Completed, "model" | "responseId"> & { readonly usage: JsonObject | null }): Pick<
  Completed,
  "usage" | "model" | "responseId"
> => {
  const usage = usageFromWire(report);
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(model === undefined ? {} : { model }),
    ...(responseId === undefined ? {} : { responseId }),
  };
};

/**
 * The failure of an answer that has nothing for whoever asked: no text, call, refusal or other part. Null for any other. The
 * reason decides: `stop` may be meant by a model that says nothing (Anthropic's "Handling stop reasons" has it after results
 * of tools), unless it only thought (Gemini CLI asks again then); a reply that was cut or filtered is incomplete, which its
 * reason says; any other reason (`tool_calls` without a call, Gemini's `MALFORMED_FUNCTION_CALL`, DeepSeek's
 * `insufficient_system_resource`, none) is one of a model that failed.
 */
export const nothingSaid = (
  { content = [], toolCalls = [], provider }: ReplyDraft,
  reason: string | null,
): Failure | null => {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const isSaid = parts.some((part) => part.type !== "reasoning" && !isBlank(part));
  if (isSaid || toolCalls.length > 0 || otherCalls.some((name) => provider?.[name] !== undefined)) return null;
  const word = (reason ?? "").toLowerCase().replaceAll("-", "_");
  const hasThought = parts.some((part) => part.type === "reasoning");
  if (incomplete.test(word) || (stopped.has(word) && !hasThought)) return null;
  const message = `the server's answer has neither text nor calls${hasThought ? ", only reasoning" : ""}, and ended with the reason ${JSON.stringify(reason)}`;
  return { kind: "unknown", retryable: true, message };
};

type ReplyPart = Exclude<ReplyDraft["content"], string | undefined>[number];

/** A message of the Responses API that has no content yet is kept as it came. */
const isBlank = (part: ReplyPart): boolean => {
  if (part.type !== "opaque") return "text" in part && part.text.trim() === "";
  const { value } = part.value;
  return isObject(value) && value["type"] === "message" && listOf(value["content"]).length === 0;
};

/** What chat completions keep beside text and calls. */
const otherCalls = ["function_call", "audio"];

const stopped: ReadonlySet<string> = new Set(["stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"]);

/** OpenAI, Anthropic, Gemini, Mistral (`model_length`), Bedrock (`guardrail_intervened`). */
const incomplete =
  /^(length|max_.*tokens|max_tokens|model_length|model_context_window_exceeded|content_filter(ed)?|guardrail_intervened|(image_)?safety|recitation|blocklist|prohibited_content|spii|language|refusal)$/;
