import {
  type CallLlm,
  type JsonObject,
  type LlmCompleted,
  type LlmFailed,
  messageFromReply,
  outstanding,
  type State,
  type TurnOutcome,
  type Usage,
} from "@colloquy/machine";
import { messagesText } from "./content.ts";
import { names, requestNumbers } from "./conventions.ts";
import type { GivenAttributes, SpanAttributes } from "./span.ts";

/** What spans of a thread show. */
export interface TelemetryOptions {
  /**
   * Shows also the content: prompts, replies, arguments and results of tools, and names that a model or a server made up (a
   * tool that was not offered, the id of a response, another model, an unknown finish reason). Default: false, and no word
   * of it is shown.
   */
  readonly content?: boolean;
  /** The agent that answers the turns. */
  readonly agent?: string;
  /** The model that is called where the parameters of a call name none. */
  readonly model?: string;
  /** Who provides the models, in the words of the conventions, such as `openai`. Default: what their names suggest, else `unknown`. */
  readonly provider?: string;
}

/** Which model the parameters of a call name, and who provides it. */
export const ofModel = (parameters: JsonObject, { model, provider }: TelemetryOptions): GivenAttributes => {
  const named = typeof parameters["model"] === "string" ? parameters["model"] : model;
  return { [names.provider]: provider ?? providerOf(named ?? ""), [names.requestModel]: named };
};

/** What a call that is out asks for, as far as the conventions have a name for it: no other of its parameters is shown. */
export const ofRequest = (
  state: State,
  purpose: CallLlm["purpose"],
  parameters: JsonObject,
  options: TelemetryOptions,
): GivenAttributes => {
  const { stop, stopSequences = stop, reasoning_effort: level } = parameters;
  const stops = [stopSequences].flat().filter((each) => typeof each === "string");
  const calls = options.content === true ? outstanding(state) : [];
  const call = calls.find((effect) => effect.type === "callLlm" && effect.purpose === purpose);
  return {
    ...ofModel(parameters, options),
    ...numbersIn(parameters),
    [names.stopSequences]: stops.length === 0 ? null : stops,
    [names.reasoningLevel]: typeof level === "string" ? level : null,
    [names.inputMessages]: call?.type === "callLlm" ? messagesText(call.messages) : null,
  };
};

const numbersIn = (parameters: JsonObject): SpanAttributes =>
  Object.fromEntries(
    Object.entries(requestNumbers).flatMap(([attribute, given]) => {
      const value = given.map((name) => parameters[name]).find((each) => typeof each === "number");
      return typeof value === "number" ? [[attribute, value]] : [];
    }),
  );

/**
 * Returns the attributes of the outcome of a call. Without `content` they have no word that the server chose freely: the model
 * has the requested name, with a date or a version, and there is no id.
 *
 * @param requested the model that was asked for
 */
export const ofOutcome = (
  event: LlmCompleted | LlmFailed,
  content: boolean,
  requested: SpanAttributes[string] | undefined,
): GivenAttributes => {
  const model = content || isVersionOf(event.model ?? "", requested) ? event.model : null;
  if (event.type === "llm.failed") return { [names.responseModel]: model };
  return {
    [names.responseModel]: model,
    [names.responseId]: content ? event.responseId : null,
    [names.finishReasons]: reasonsOf(event.finishReason, content),
    [names.outputMessages]: content ? messagesText([messageFromReply("", "", event.reply)]) : null,
  };
};

/** Returns a finish reason as an attribute. Without `content`, one that the server made up is `other`. */
export const reasonsOf = (reason: string | null, content: boolean): readonly string[] | null =>
  reason === null ? null : [content || knownReasons.has(reason.toLowerCase()) ? reason : "other"];

/** Those of OpenAI, Anthropic, Gemini, Mistral, DeepSeek, Ollama and the AI SDK. */
const knownReasons: ReadonlySet<string> = new Set(
  (
    "stop length content_filter tool_calls function_call error eos load unload incomplete end_turn max_tokens stop_sequence " +
    "tool_use pause_turn refusal model_context_window_exceeded content-filter tool-calls other unknown max_output_tokens " +
    "model_length finish_reason_unspecified safety recitation language blocklist prohibited_content spii " +
    "malformed_function_call image_safety unexpected_tool_call insufficient_system_resource"
  ).split(" "),
);

/** Whether a name is the requested one, followed by nothing but numbers, such as a date. */
const isVersionOf = (model: string, requested: SpanAttributes[string] | undefined): boolean =>
  typeof requested === "string" &&
  model.startsWith(requested) &&
  // Digit by digit: by runs of digits, a name that ends in something else takes twice as long with each digit.
  /^(?:[-@:.]?\d)*$/.test(model.slice(requested.length));

/** The tokens that were reported, beside those that are known already; of what was not, nothing: it is not known to be none. */
export const ofUsage = (usage: Usage, known: SpanAttributes = {}): SpanAttributes =>
  Object.fromEntries(
    tokenFields
      .filter((field) => usage[field].reported > 0)
      .map((field) => [names[field], usage[field].sum + Number(known[names[field]] ?? 0)]),
  );

const tokenFields = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/** Why a turn did not end as it should, in one word of few; null for one that did. Never a message: that may say anything. */
export const errorOf = (outcome: TurnOutcome): string | null => {
  if (outcome.status === "completed") return null;
  if (outcome.status === "cancelled") return "cancelled";
  if ("failure" in outcome) return outcome.failure.kind;
  if ("limit" in outcome) return `limit_${outcome.limit.limit}`;
  return "unfit" in outcome ? "context_unfit" : `output_${outcome.output.kind}`;
};

/** Who provides a model, as far as its name tells: `gpt-5`, or `openai/gpt-5`. */
const providerOf = (model: string): string => {
  const name = model.toLowerCase().replace(/^.*\//u, "");
  return Object.entries(providers).find(([, pattern]) => pattern.test(name))?.[0] ?? "unknown";
};

const providers = {
  openai: /^(?:gpt|chatgpt|o\d)/,
  anthropic: /^claude/,
  "gcp.gemini": /^gemini/,
  mistral_ai: /^(?:mi[sx]tral|codestral|ministral)/,
  deepseek: /^deepseek/,
  x_ai: /^grok/,
};
