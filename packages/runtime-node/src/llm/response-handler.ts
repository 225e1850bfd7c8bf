import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import * as Either from "fp-ts/lib/Either.js";
import { outcomeOfResponseBody, streamOfResponse } from "./response-answer.ts";
import { responseItems, responseRequest, type ResponseRequestOptions, withoutEncrypted } from "./response-request.ts";
import type { Connected } from "./transport/connection.ts";
import { type HttpHandler, httpHandler } from "./transport/http-handler.ts";
import { writerFor } from "./transport/written-messages.ts";
import { wired, wireFor } from "./wire/wired.ts";

/** Performs the calls of `openaiResponses`. */
export const responseHandler = (connected: Connected<ResponseRequestOptions>): LlmHandler => {
  const refusing = new Set<unknown>();
  const wireOf = wireFor(connected, "responses");
  const write = writerFor(connected, responseItems, wireOf);
  const perform = httpHandler({
    connected,
    path: "/responses",
    request: (call, offered): ReturnType<HttpHandler["request"]> => {
      const body = responseRequest(call, connected.options, offered, write);
      const isKnown = call.model["include"] === undefined && refusing.has(body["model"]);
      return Either.right(isKnown ? (withoutEncrypted(body) ?? body) : body);
    },
    again: (body, outcome, call) =>
      call.model["include"] === undefined && refusesInclude(outcome) ? withoutEncrypted(body) : null,
    // Only now is it known that nothing else was wrong.
    accepted: (body) => void refusing.add(body["model"]),
    stream: streamOfResponse,
    outcomeOfBody: outcomeOfResponseBody,
  });
  return wired({ name: connected.handler, perform, wireOf });
};

/** Reasoning of another account that can't be decrypted, and a request that has to "include" something, are other refusals. */
const refusesInclude = (outcome: LlmOutcome): boolean =>
  outcome.type === "failed" &&
  outcome.partial === undefined &&
  outcome.failure.kind === "bad_request" &&
  outcome.failure.code !== "invalid_encrypted_content" &&
  /encrypted[ _]content|['"`]include\b|\binclude['"`]|\b(parameter|field|argument)s?:? include\b/i.test(
    outcome.failure.message,
  );
