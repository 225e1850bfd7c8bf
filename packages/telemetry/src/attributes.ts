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
  /** Also what was said: prompts, replies, arguments and results of tools. Default: false, and no word of it is shown. */
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

/** What the outcome of a call says of itself. */
export const ofOutcome = (event: LlmCompleted | LlmFailed, content: boolean): GivenAttributes => {
  if (event.type === "llm.failed") return { [names.responseModel]: event.model };
  return {
    [names.responseModel]: event.model,
    [names.responseId]: event.responseId,
    [names.finishReasons]: event.finishReason === null ? null : [event.finishReason],
    [names.outputMessages]: content ? messagesText([messageFromReply("", "", event.reply)]) : null,
  };
};

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
