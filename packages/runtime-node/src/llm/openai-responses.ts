import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { outcomeOfResponseBody, streamOfResponse } from "./response-answer.ts";
import { responseRequest, type ResponseRequestOptions, withoutEncrypted } from "./response-request.ts";
import { connect, type OpenAiConnection } from "./transport/connection.ts";
import { httpHandler } from "./transport/http-handler.ts";

export type OpenAiResponsesOptions = ResponseRequestOptions & OpenAiConnection;

/**
 * Calls a server by OpenAI's Responses API, without state there: `store: false`, and reasoning comes encrypted, is kept with
 * the reply and goes back with the next call, as do the ids and phases of messages, and the items of built-in tools. So the
 * thread is all that there is of the conversation. Throws only here and at once, where the SDK can't make a client (no key), or
 * where the base URL holds credentials.
 *
 * A model that does not know encrypted reasoning refuses to be asked for it. Then, and then only, a second request follows,
 * without that wish, and the handler remembers it of the model. What is refused calls no model: a call still calls one once.
 * A wish among the call's own parameters (`include`) is sent as it is.
 *
 * The finish reason is in the words of chat completions: `stop`, `tool_calls`, `length`, `content_filter`. A reply that ended
 * early is kept whole. The model is offered exactly the tools of the call, and none for summaries. An output that the call
 * wants is asked for by `text.format` (`native`), by a tool that has to be called (`tool`), or in words (`prompted`).
 *
 * Idle timer, redirects, keys and options are as for `openaiChat`.
 */
export const openaiResponses = (given: OpenAiResponsesOptions): LlmHandler => {
  const { client, options } = connect<ResponseRequestOptions>("openaiResponses", given, optionNames);
  const refusing = new Set<unknown>();
  return httpHandler({
    client,
    path: "/responses",
    request: (call, declared) => {
      const request = responseRequest(call, options, declared);
      const isKnown =
        Either.isRight(request) && call.model["include"] === undefined && refusing.has(request.right["model"]);
      return isKnown ? Either.map((body: JsonObject) => withoutEncrypted(body) ?? body)(request) : request;
    },
    again: (body, outcome, call) =>
      call.model["include"] === undefined && refusesInclude(outcome) ? withoutEncrypted(body) : null,
    // Only now is it known that nothing else was wrong.
    accepted: (body) => void refusing.add(body["model"]),
    stream: streamOfResponse,
    outcomeOfBody: outcomeOfResponseBody,
  });
};

const optionNames = { model: true, stream: true } as const;

/** Reasoning of another account that can't be decrypted, and a request that has to "include" something, are other refusals. */
const refusesInclude = (outcome: LlmOutcome): boolean =>
  outcome.type === "failed" &&
  outcome.partial === undefined &&
  outcome.failure.kind === "bad_request" &&
  outcome.failure.code !== "invalid_encrypted_content" &&
  /encrypted[ _]content|['"`]include\b|\binclude['"`]|\b(parameter|field|argument)s?:? include\b/i.test(
    outcome.failure.message,
  );
