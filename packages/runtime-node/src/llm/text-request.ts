import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import type { Template } from "@colloquy/templates";
import * as Either from "fp-ts/lib/Either.js";
import type { RequestBody } from "./transport/request-body.ts";
import { type Wire, wireMessages, WireState } from "./wire/messages.ts";
import { parametersOf, type RequestOptions, type UsageOptions, withUsage } from "./request.ts";

export interface TextRequestOptions extends RequestOptions, UsageOptions {
  /** Where an answer ends, beside the stop patterns of the template. */
  readonly stop?: readonly string[];
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
  { options, wire }: { readonly options: TextRequestOptions; readonly wire: Wire },
  declared: readonly ToolDeclaration[],
  at: number,
): Either.Either<string, RequestBody> => {
  const problem = problemOf(call, declared);
  if (problem !== null) return Either.left(problem);
  const body = withUsage({ max_tokens: maxTokens, ...parametersOf(call, options) }, options);
  const stop = sentStops(template, stopsOf(call, options));
  if (stop.length > 0) body["stop"] = stop;
  const messages = wireMessages(call.messages, wire, new WireState());
  return Either.map((prompt: string): RequestBody => ({ ...body, prompt: prompt.toWellFormed() }))(
    template.render(messages, { at }),
  );
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
