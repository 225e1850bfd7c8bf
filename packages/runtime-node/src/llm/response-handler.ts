import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import * as Either from "fp-ts/lib/Either.js";
import { outcomeOfResponseBody, streamOfResponse } from "./response-answer.ts";
import { responseItems, responseRequest, type ResponseRequestOptions, withoutEncrypted } from "./response-request.ts";
import type { Connected } from "./transport/connection.ts";
import { httpHandler } from "./transport/http-handler.ts";
import type { RequestBody } from "./transport/request-body.ts";
import { writerFor } from "./transport/written-messages.ts";

/** Performs the calls of `openaiResponses`. */
export const responseHandler = (connected: Connected<ResponseRequestOptions>): LlmHandler => {
  const refusing = new Set<unknown>();
  const write = writerFor(connected, responseItems);
  return httpHandler({
    connected,
    path: "/responses",
    request: (call, declared) => {
      const request = responseRequest(call, connected, declared, write);
      const isKnown =
        Either.isRight(request) && call.model["include"] === undefined && refusing.has(request.right["model"]);
      return isKnown ? Either.map((body: RequestBody) => withoutEncrypted(body) ?? body)(request) : request;
    },
    again: (body, outcome, call) =>
      call.model["include"] === undefined && refusesInclude(outcome) ? withoutEncrypted(body) : null,
    // Only now is it known that nothing else was wrong.
    accepted: (body) => void refusing.add(body["model"]),
    stream: streamOfResponse,
    outcomeOfBody: outcomeOfResponseBody,
  });
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
