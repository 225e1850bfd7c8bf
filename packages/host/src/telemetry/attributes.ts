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
  contentText,
  type Message,
  type Part,
} from "@colloquy/machine";
import { names, requestNumbers } from "./conventions.ts";
import type { GivenAttributes, SpanAttributes } from "./span.ts";

/** The options for the content of a thread's spans. */
export interface TelemetryOptions {
  /**
   * Includes content: prompts, replies, and arguments and results of tools. It also includes names that a model or a
   * server made up (a tool that was not offered, the id of a response, another model, an unknown finish reason).
   * Default: false; then no span contains any of it.
   */
  readonly content?: boolean;
  /** The name of the agent that answers the turns. */
  readonly agent?: string;
  /** The model of calls whose parameters name none. */
  readonly model?: string;
  /**
   * The provider of the models, by its name in the conventions, such as `openai`. Default: guessed from the model's
   * name, else `unknown`.
   */
  readonly provider?: string;
}

export const ofModel = (parameters: JsonObject, { model, provider }: TelemetryOptions): GivenAttributes => {
  const named = typeof parameters["model"] === "string" ? parameters["model"] : model;
  return { [names.provider]: provider ?? providerOf(named ?? ""), [names.requestModel]: named };
};

/** Returns the attributes of a call's request. Only parameters with a name in the conventions are included. */
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
 * Returns the attributes of a call's outcome. Without `content` they contain no text that the server chose freely. The
 * model is then the requested name with a date or a version, and there is no id.
 *
 * @param requested the requested model
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

/** Returns a finish reason as an attribute; an unknown one becomes `other` without `content`. */
export const reasonsOf = (reason: string | null, content: boolean): readonly string[] | null =>
  reason === null ? null : [content || knownReasons.has(reason.toLowerCase()) ? reason : "other"];

/** The finish reasons of OpenAI, Anthropic, Gemini, Mistral, DeepSeek, Ollama and the AI SDK. */
const knownReasons: ReadonlySet<string> = new Set(
  (
    "stop length content_filter tool_calls function_call error eos load unload incomplete end_turn max_tokens stop_sequence " +
    "tool_use pause_turn refusal model_context_window_exceeded content-filter tool-calls other unknown max_output_tokens " +
    "model_length finish_reason_unspecified safety recitation language blocklist prohibited_content spii " +
    "malformed_function_call image_safety unexpected_tool_call insufficient_system_resource"
  ).split(" "),
);

/** Returns whether a name is the requested one, followed only by numbers, such as a date. */
const isVersionOf = (model: string, requested: SpanAttributes[string] | undefined): boolean =>
  typeof requested === "string" &&
  model.startsWith(requested) &&
  // Digit by digit: with runs of digits, a name that ends in something else would take exponential time.
  /^(?:[-@:.]?\d)*$/.test(model.slice(requested.length));

/** Adds reported tokens to known ones. An unreported field is left out: it is unknown, not zero. */
export const ofUsage = (usage: Usage, known: SpanAttributes = {}): SpanAttributes =>
  Object.fromEntries(
    tokenFields
      .filter((field) => usage[field].reported > 0)
      .map((field) => [names[field], usage[field].sum + Number(known[names[field]] ?? 0)]),
  );

const tokenFields = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/** Returns why a turn did not end normally, as one of a few words and never an error's message; null if it did. */
export const errorOf = (outcome: TurnOutcome): string | null => {
  if (outcome.status === "completed") return null;
  if (outcome.status === "cancelled") return "cancelled";
  if ("failure" in outcome) return outcome.failure.kind;
  if ("limit" in outcome) return `limit_${outcome.limit.limit}`;
  return "unfit" in outcome ? "context_unfit" : `output_${outcome.output.kind}`;
};

/** Guesses the provider from the name of a model, such as `gpt-5`, or `openai/gpt-5`. */
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

/** Formats messages as one attribute, by the conventions, without provider fields and unknown parts. */
export const messagesText = (messages: readonly Message[]): string =>
  JSON.stringify(
    messages.map(({ role, name, parts }) => ({
      role: role === "developer" ? "system" : role,
      parts: parts.map(partOf),
      ...(name === undefined ? {} : { name }),
    })),
  );

const partOf = (part: Part): object => {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return { type: part.type, content: part.text };
    case "data":
      return { type: "data", name: part.field, content: part.value };
    case "image":
      return imageOf(part.url);
    case "opaque":
      return { type: typeof part.value["type"] === "string" ? part.value["type"] : "opaque" };
    case "toolCall":
      return { type: "tool_call", id: part.callId, name: part.name, arguments: argumentsOf(part.arguments) };
    case "toolResult":
      return { type: "tool_call_response", id: part.callId, response: contentText(part.content) };
  }
};

const imageOf = (url: string): object => {
  const [, type, content] = /^data:([^;,]*);base64,(.*)$/su.exec(url) ?? [];
  if (content === undefined) return { type: "uri", modality: "image", uri: url };
  return { type: "blob", modality: "image", mime_type: type, content };
};

const argumentsOf = (written: string): unknown => {
  try {
    return JSON.parse(written);
  } catch {
    return written;
  }
};
