import type { LlmContext, LlmHandler } from "@colloquy/host";
import type { CallLlm, JsonObject, ToolDeclaration } from "@colloquy/machine";
import { replyFromChatMessage } from "@colloquy/interchange";
import { answerFilter, type StopFilter, type Template } from "@colloquy/interchange/templates";
import * as Either from "fp-ts/lib/Either.js";
import { badRequest } from "./failure/failure.ts";
import { parametersOf, type RequestOptions, type UsageOptions, withUsage } from "./http-handlers.ts";
import { isObject, isText, listOf, textOf } from "./json/loose-json.ts";
import { withOwnParameters } from "./own-parameters.ts";
import { ChatAnswer } from "./reply/chat-answer.ts";
import type { Connected } from "./transport/connection.ts";
import { type Endpoint, exchanges } from "./transport/exchange.ts";
import { wireMessages, WireState } from "./wire/messages.ts";
import { handlerOnWire, wireFor } from "./wire/handler-on-wire.ts";

export interface TextRequestOptions extends RequestOptions, UsageOptions {
  /** Texts that end an answer, beside the stop patterns of the template. */
  readonly stop?: readonly string[];
}

/** Performs the calls of `textCompletion`: the template makes one text of the messages. */
export const textHandler = (template: Template, connected: Connected<TextRequestOptions>): LlmHandler => {
  const { handler: name, options } = connected;
  const endpoint: Endpoint = {
    path: "/completions",
    reader: (onDelta, call) => new TextAnswer(onDelta, answerFilter(template, stopsOf(call, options))),
  };
  const send = withOwnParameters(exchanges(connected, endpoint));
  const handler = handlerOnWire({
    name,
    wireOf: wireFor(connected, "text"),
    perform: async (call, context, wire) => {
      // Without it text completions stop after 16 tokens.
      const body = withUsage({ max_tokens: 1024, ...parametersOf(call, options) }, options);
      const stop = sentStops(template, stopsOf(call, options));
      if (stop.length > 0) body["stop"] = stop;
      const messages = wireMessages(call.messages, wire, new WireState());
      const prompt = template.render(messages, { at: context.clock.now() });
      if (Either.isLeft(prompt)) return badRequest(prompt.left);
      return send({ ...body, prompt: prompt.right.toWellFormed() }, call, context);
    },
  });
  return async (call, context) => {
    const problem = problemOf(call, context.tools);
    return problem === null ? handler(call, context) : badRequest(problem);
  };
};

/** Returns the stop patterns of the call's parameters and of the handler's options. */
const stopsOf = ({ model: { stop } }: CallLlm, options: TextRequestOptions): readonly string[] => [
  ...[stop].flat().filter((each) => typeof each === "string"),
  ...(options.stop ?? []),
];

/** Servers take four patterns. At one that the model may begin with a server would stop before the answer. */
const sentStops = ({ stop, opening }: Template, given: readonly string[]): readonly string[] =>
  [...new Set([...given, ...stop])].filter((pattern) => pattern !== "" && !opening.includes(pattern)).slice(0, 4);

const problemOf = ({ purpose, tools, output }: CallLlm, declared: readonly ToolDeclaration[]): string | null => {
  if (output?.mode === "native")
    return "textCompletion has no native outputs: ask for the output in words (prompted), which is then checked";
  const byTool = output?.mode === "tool" ? output : undefined;
  const offered = purpose === "summary" ? undefined : ((tools ?? declared)[0] ?? byTool);
  return offered === undefined
    ? null
    : `the call offers the tool "${offered.name}", and textCompletion can't read calls out of a text: offer none, or call the model through chat completions (openaiChat)`;
};

/** Reads text completions as chat completions, whose message is the part of the text that the filter takes for the answer. */
class TextAnswer extends ChatAnswer {
  readonly #filter: StopFilter;

  constructor(onDelta: LlmContext["onDelta"], filter: StopFilter) {
    super(replyFromChatMessage, onDelta);
    this.#filter = filter;
  }

  protected override read(value: JsonObject, isWhole: boolean): JsonObject {
    const { choices } = value;
    if (choices === undefined) return value;
    const answer = listOf(choices)
      .filter(isObject)
      .find(({ index = 0 }) => index === 0);
    return { ...value, choices: answer === undefined ? [] : [this.#choiceOf(answer, isWhole)] };
  }

  #choiceOf({ text: written, ...choice }: JsonObject, isWhole: boolean): JsonObject {
    const filter = this.#filter;
    const text = textOf(written);
    // A server that writes on after a stop pattern sends no more of the answer.
    this.done ||= filter.stopped() && text !== "";
    const content = filter.push(text) + (isWhole || isText(choice["finish_reason"]) ? filter.end() : "");
    const ended = filter.stopped() ? { finish_reason: "stop" } : {};
    return { ...choice, delta: { content }, ...ended };
  }
}
