import type { LlmHandler } from "@colloquy/host";
import { kinds, type OptionKinds } from "@colloquy/host/store";
import { ConfigurationError } from "@colloquy/machine";
import type { Template } from "@colloquy/interchange/templates";
import type { ChatRequestOptions, ResponseRequestOptions } from "./http-handlers.ts";
import type { TextRequestOptions } from "./text-handler.ts";
import { connect, loadedLater, type OpenAiConnection } from "./transport/connection.ts";

const requestKinds = { model: kinds.anyText, dialect: kinds.anything, stream: kinds.flag };
/** The kinds of the options of `openaiChat`, for handlers made of its parts. */
export const chatKinds: OptionKinds<ChatRequestOptions> = {
  ...requestKinds,
  tools: kinds.list,
  includeUsage: kinds.flag,
  writtenBytes: kinds.whole(0),
};
const responseKinds = { ...requestKinds, writtenBytes: kinds.whole(0) };
const textKinds = {
  ...requestKinds,
  stop: kinds.listOf("texts", (each) => typeof each === "string"),
  includeUsage: kinds.flag,
};

export type OpenAiChatOptions = ChatRequestOptions & OpenAiConnection;

/**
 * Calls any server that speaks OpenAI's chat completions. It reads the bytes itself, since the SDK's own decoder loses calls
 * and throws on bytes that real servers send. Throws only here, if an option is invalid. The first call reads the environment;
 * without a key each call fails as `auth`, which names the variable.
 *
 * A piece of the answer ends the silence that `idleTimeoutMs` bounds. Comments, pings and empty pieces do not.
 *
 * The model is offered exactly the tools of the call, and none for summaries. A wanted output is asked for by
 * `response_format` (`native`), by a tool that has to be called (`tool`), or by an instruction (`prompted`).
 *
 * Redirects are not followed. The client's keys are removed from all that the server sends: reply, pieces and failures.
 * Options are copied, except for a `client`: changing them later changes no call.
 */
export const openaiChat = (given: OpenAiChatOptions): LlmHandler => {
  const connected = connect<ChatRequestOptions>("openaiChat", given, chatKinds);
  return loadedLater(connected, async () => (await import("./http-handlers.ts")).chatHandler(connected));
};

export type OpenAiResponsesOptions = ResponseRequestOptions & OpenAiConnection;

/**
 * Calls a server by OpenAI's Responses API, without state there: `store: false`. Encrypted reasoning, ids and phases of messages
 * and items of built-in tools are kept with the reply and go back with the next call. So the thread is the whole conversation.
 *
 * A model that does not know encrypted reasoning refuses a request for it. Only then a second request follows without it, and
 * the handler remembers that of the model. A refused request calls no model: a call still calls one once. An `include` among
 * the call's own parameters is sent as it is.
 *
 * Finish reasons are those of chat completions: `stop`, `tool_calls`, `length`, `content_filter`. A reply that ended early is
 * kept whole. Tools are offered as by `openaiChat`. A wanted output is asked for by `text.format` (`native`), by a tool that
 * has to be called (`tool`), or by an instruction (`prompted`).
 *
 * Idle timer, redirects, environment, keys, options and errors are as for `openaiChat`.
 */
export const openaiResponses = (given: OpenAiResponsesOptions): LlmHandler => {
  const connected = connect<ResponseRequestOptions>("openaiResponses", given, responseKinds);
  return loadedLater(connected, async () => (await import("./http-handlers.ts")).responseHandler(connected));
};

export type TextCompletionOptions = TextRequestOptions &
  OpenAiConnection & {
    /** Makes the text that the model continues. */
    readonly template: Template;
  };

/**
 * Calls any server that speaks OpenAI's text completions (`POST /completions`), as those of local models do: a template makes
 * the prompt from the messages. Connection, streams, silence, redirects and keys are as for `openaiChat`.
 *
 * The reply is the text before the first stop pattern, without white space around it. Servers get at most four patterns. The
 * handler looks for all of them itself, wherever a stream is cut; it cuts off a server that writes on after one, whose usage
 * then stays unknown. If a stream breaks off, a possible beginning of a pattern is not part of the partial reply.
 *
 * A call that offers tools fails as `bad_request`, since each model writes calls in a text in its own way; the template renders
 * the tool rounds of a prompt. A wanted output is asked for by an instruction (`prompted`). Messages that the template cannot
 * render fail as `bad_request` too. Without `max_tokens` among its parameters a call has 1024.
 */
export const textCompletion = ({ template, ...given }: TextCompletionOptions): LlmHandler => {
  if (typeof template?.render !== "function")
    throw new ConfigurationError("textCompletion needs a template: give promptFormat(…) or jinjaTemplate(…)");
  const connected = connect<TextRequestOptions>("textCompletion", given, textKinds);
  return loadedLater(connected, async () => (await import("./text-handler.ts")).textHandler(template, connected));
};
