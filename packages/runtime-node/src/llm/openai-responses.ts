import type { LlmHandler } from "@colloquy/host";
import type { ResponseRequestOptions } from "./response-request.ts";
import { connect, loadedLater, type OpenAiConnection } from "./transport/connection.ts";

export type OpenAiResponsesOptions = ResponseRequestOptions & OpenAiConnection;

/**
 * Calls a server by OpenAI's Responses API, without state there: `store: false`, and reasoning comes encrypted, is kept with
 * the reply and goes back with the next call, as do the ids and phases of messages, and the items of built-in tools. So the
 * thread is all that there is of the conversation. Throws only here and at once, for options that are
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
  const connected = connect<ResponseRequestOptions>("openaiResponses", given, optionNames);
  return loadedLater(connected, async () => (await import("./response-handler.ts")).responseHandler(connected));
};

const optionNames = { model: true, dialect: true, stream: true, writtenBytes: true } as const;
