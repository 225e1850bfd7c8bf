import type { LlmHandler } from "@colloquy/host";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { answerFilter, type StopFilter, type Template } from "@colloquy/interchange/templates";
import * as Either from "fp-ts/lib/Either.js";
import { badRequest } from "./failure/failure.ts";
import { chatAnswer, type ChatFormat } from "./reply/chat-answer.ts";
import { isObject, isText, listOf, textOf } from "./json/loose-json.ts";
import { parametersOf, type RequestOptions, type UsageOptions, withUsage } from "./request.ts";
import type { Connected } from "./transport/connection.ts";
import { exchanges } from "./transport/exchange.ts";
import { wireMessages, WireState } from "./wire/messages.ts";
import { wired, wireFor } from "./wire/wired.ts";

export interface TextRequestOptions extends RequestOptions, UsageOptions {
  /** Where an answer ends, beside the stop patterns of the template. */
  readonly stop?: readonly string[];
}

/**
 * Performs the calls of `textCompletion`: the parameters of a call as they are, and its messages as the text that the template
 * makes of them.
 */
export const textHandler = (template: Template, connected: Connected<TextRequestOptions>): LlmHandler => {
  const { handler: name, options } = connected;
  const handler = wired({
    name,
    wireOf: wireFor(connected, "text"),
    request: (call, _, { wire, at }) => {
      const body = withUsage({ max_tokens: maxTokens, ...parametersOf(call, options) }, options);
      const stop = sentStops(template, stopsOf(call, options));
      if (stop.length > 0) body["stop"] = stop;
      const messages = wireMessages(call.messages, wire, new WireState());
      return Either.map((prompt: string) => ({ ...body, prompt: prompt.toWellFormed() }))(
        template.render(messages, { at }),
      );
    },
    perform: exchanges(connected, {
      path: "/completions",
      reader: (onDelta, call) => chatAnswer(onDelta, textFormat(answerFilter(template, stopsOf(call, options)))),
    }),
  });
  return async (call, context) => {
    const problem = problemOf(call, context.tools);
    return problem === null ? handler(call, context) : badRequest(problem);
  };
};

/** Where the answer to a call ends, beside the patterns of the template: as the call's parameters say, and the handler's options. */
const stopsOf = ({ model: { stop } }: CallLlm, options: TextRequestOptions): readonly string[] => {
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
  const byTool = output?.mode === "tool" ? output : undefined;
  const offered = purpose === "summary" ? undefined : ((tools ?? declared)[0] ?? byTool);
  return offered === undefined
    ? null
    : `the call offers the tool "${offered.name}", and textCompletion can't read calls out of a text: offer none, or call the model through chat completions (openaiChat)`;
};

/**
 * Reads text completions as chat completions: their text, as far as it is the answer, as the message. A server that writes on
 * after a stop pattern sends nothing of use.
 *
 * @param filter What takes the answer out of the text.
 */
const textFormat = (filter: StopFilter): ChatFormat => {
  let overrun = false;
  const choiceOf = ({ text: written, ...choice }: JsonObject, isWhole: boolean): JsonObject => {
    const text = textOf(written);
    overrun ||= filter.stopped() && text !== "";
    const reason = choice["finish_reason"];
    const content = filter.push(text) + (isWhole || isText(reason) ? filter.end() : "");
    return {
      ...choice,
      message: { role: "assistant", content },
      ...(filter.stopped() ? { finish_reason: "stop" } : {}),
    };
  };
  return {
    read: (value, isWhole) => {
      if (value["choices"] === undefined) return value;
      // There is one answer, the choice of index 0.
      const choices = listOf(value["choices"])
        .filter(isObject)
        .filter(({ index = 0 }) => index === 0);
      return { ...value, choices: choices.map((choice) => choiceOf(choice, isWhole)) };
    },
    isOver: () => overrun,
  };
};
