import type { LlmHandler } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import type { Template } from "@colloquy/interchange/templates";
import type { ChatRequestOptions, ResponseRequestOptions } from "./request.ts";
import type { TextRequestOptions } from "./text-handler.ts";
import { connect, loadedLater, type OpenAiConnection } from "./transport/connection.ts";

export type OpenAiChatOptions = ChatRequestOptions & OpenAiConnection;

/**
 * Calls any server that speaks OpenAI's chat completions. It reads the bytes itself, since the SDK's own decoding
 * loses calls and throws on what servers really send. Throws only here and at once, if an option is
 * invalid. The first call reads the environment; without a key each call fails as `auth`, which names the variable.
 *
 * A piece of the answer ends the silence that `idleTimeoutMs` bounds. Comments, pings and empty pieces do not.
 *
 * The model is offered exactly the tools of the call, and none for summaries. An output that the call wants is asked for by
 * `response_format` (`native`), by a tool that has to be called (`tool`), or in words (`prompted`).
 *
 * Redirects are not followed. The client's keys are taken out of whatever the server sends: reply, pieces and failures.
 *
 * Of the options a copy is kept, but for a `client`: whatever becomes of them later changes no call.
 */
export const openaiChat = (given: OpenAiChatOptions): LlmHandler => {
  const connected = connect<ChatRequestOptions>("openaiChat", given, chatOptions);
  return loadedLater(connected, async () => (await import("./http-handlers.ts")).chatHandler(connected));
};

const chatOptions = {
  model: true,
  dialect: true,
  tools: true,
  stream: true,
  includeUsage: true,
  writtenBytes: true,
} as const;

export type OpenAiResponsesOptions = ResponseRequestOptions & OpenAiConnection;

/**
 * Calls a server by OpenAI's Responses API, without state there: `store: false`, and reasoning comes encrypted, is kept with
 * the reply and goes back with the next call, as do the ids and phases of messages, and the items of built-in tools. So the
 * thread is all that there is of the conversation. Throws only here and at once, if an option is
 * invalid.
 *
 * A model that does not know encrypted reasoning refuses to be asked for it. Then, and then only, a second request follows,
 * without that wish, and the handler remembers it of the model. What is refused calls no model: a call still calls one once.
 * A wish among the call's own parameters (`include`) is sent as it is.
 *
 * The finish reason is in the words of chat completions: `stop`, `tool_calls`, `length`, `content_filter`. A reply that ended
 * early is kept whole. The model is offered exactly the tools of the call, and none for summaries. An output that the call
 * wants is asked for by `text.format` (`native`), by a tool that has to be called (`tool`), or in words (`prompted`).
 *
 * Idle timer, redirects, environment, keys and options are as for `openaiChat`.
 */
export const openaiResponses = (given: OpenAiResponsesOptions): LlmHandler => {
  const connected = connect<ResponseRequestOptions>("openaiResponses", given, responseOptions);
  return loadedLater(connected, async () => (await import("./http-handlers.ts")).responseHandler(connected));
};

const responseOptions = { model: true, dialect: true, stream: true, writtenBytes: true } as const;

export type TextCompletionOptions = TextRequestOptions &
  OpenAiConnection & {
    /** Makes the text that the model goes on with. */
    readonly template: Template;
  };

/**
 * Calls any server that speaks OpenAI's text completions (`POST /completions`), as those of local models do: the prompt is
 * the text that a template makes of the messages. Connection, streams, silence, redirects and keys are as with `openaiChat`.
 *
 * The reply is the text before the first stop pattern, without white space around it. Servers are sent at most four
 * patterns, and all are looked for here, wherever a stream is cut; a server that writes on behind one is cut off, and
 * its usage then stays unknown. Where a stream breaks off, what may have become a pattern is not part of what came.
 *
 * A call that offers tools fails as `bad_request`, since calls in a text are every model's own; tool rounds that a
 * prompt has are the template's to render. An output that the call wants is asked for in words (`prompted`). Messages
 * that the template can't render fail as `bad_request` too. Without `max_tokens` among its parameters a call has 1024.
 */
export const textCompletion = ({ template, ...given }: TextCompletionOptions): LlmHandler => {
  if (typeof template?.render !== "function")
    throw new ConfigurationError("textCompletion needs a template: give promptFormat(…) or jinjaTemplate(…)");
  const connected = connect<TextRequestOptions>("textCompletion", given, textOptions);
  const { stop } = connected.options;
  if (stop !== undefined && !Array.isArray(stop))
    throw new ConfigurationError(`textCompletion: stop is ${JSON.stringify(stop)}; it must be a list of texts`);
  return loadedLater(connected, async () => (await import("./text-handler.ts")).textHandler(template, connected));
};

const textOptions = { model: true, dialect: true, stop: true, stream: true, includeUsage: true } as const;
