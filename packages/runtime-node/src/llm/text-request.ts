import type { CallLlm, Json, JsonObject, ToolDeclaration } from "@colloquy/machine";
import type { Template } from "@colloquy/templates";
import * as Either from "fp-ts/lib/Either.js";

export interface TextRequestOptions {
  /** The model that is called where neither thread nor ask names one. */
  readonly model?: string;
  /** Where an answer ends, beside the stop patterns of the template. */
  readonly stop?: readonly string[];
  /** Ask for the reply piece by piece, where the call's parameters do not say. Default true. */
  readonly stream?: boolean;
  /** Ask streams to report usage (`stream_options`), where the call's parameters do not say. Default true. */
  readonly includeUsage?: boolean;
}

/**
 * The body of a request to a text completions server: the call's parameters as they are, and its messages as the text that
 * the template makes of them; or in words why there can be none.
 *
 * @param at The time, for templates that say the date.
 */
export const textRequest = (
  call: CallLlm,
  template: Template,
  options: TextRequestOptions,
  declared: readonly ToolDeclaration[],
  at: number,
): Either.Either<string, JsonObject> => {
  const problem = problemOf(call, declared);
  if (problem !== null) return Either.left(problem);
  const { stream_options: streamOptions, ...parameters } = call.model;
  const body: { [parameter: string]: Json | undefined } = { max_tokens: maxTokens, ...parameters };
  if (body["model"] === undefined && options.model !== undefined) body["model"] = options.model;
  if (body["stream"] === undefined && options.stream !== false) body["stream"] = true;
  if (streamOptions !== undefined && streamOptions !== null) body["stream_options"] = streamOptions;
  if (streamOptions === undefined && body["stream"] === true && options.includeUsage !== false)
    body["stream_options"] = { include_usage: true };
  const stop = sentStops(template, stopsOf(call, options));
  if (stop.length > 0) body["stop"] = stop;
  return Either.map((prompt: string): JsonObject => ({ ...body, prompt }))(template.render(call.messages, { at }));
};

/** Where the answer to a call ends, beside the patterns of the template: as the call's parameters say, and the handler's options. */
export const stopsOf = ({ model: { stop } }: CallLlm, options: TextRequestOptions): readonly string[] => {
  const given: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return [...given.filter((each) => typeof each === "string"), ...(options.stop ?? [])];
};

/** Text completions stop after 16 tokens where nothing is said. */
const maxTokens = 1024;

/** Servers take no more. */
const stopsMax = 4;

/** A server would stop before the answer at a pattern that the model may begin with. All others are sent, as far as there is room. */
const sentStops = ({ stop, opening }: Template, given: readonly string[]): readonly string[] =>
  [...new Set([...given, ...stop])]
    .filter((pattern) => pattern !== "" && !opening.includes(pattern))
    .slice(0, stopsMax);

const problemOf = ({ purpose, tools, output }: CallLlm, declared: readonly ToolDeclaration[]): string | null => {
  if (output?.mode === "native")
    return "textCompletion has no native outputs: ask for the output in words (prompted), which is then checked";
  const offered = purpose === "summary" ? undefined : (tools ?? declared)[0];
  return offered === undefined
    ? null
    : `the call offers the tool "${offered.name}", and textCompletion can't read calls out of a text: offer none, or call the model through chat completions (openaiChat)`;
};
