import type { LlmHandler, LlmOutcome } from "@colloquy/host";
import * as Either from "fp-ts/lib/Either.js";
import { chatAnswer } from "./reply/chat-answer.ts";
import { responseAnswer } from "./reply/response-answer.ts";
import {
  chatMessages,
  chatRequest,
  type ChatRequestOptions,
  responseItems,
  responseRequest,
  type ResponseRequestOptions,
  withoutEncrypted,
} from "./request.ts";
import type { Connected } from "./transport/connection.ts";
import { httpHandler } from "./transport/exchange.ts";
import { writerFor } from "./transport/written-messages.ts";
import { wired, wireFor } from "./wire/wired.ts";

/** Performs the calls of `openaiChat`. */
export const chatHandler = (connected: Connected<ChatRequestOptions>): LlmHandler => {
  const { handler: name, options } = connected;
  const wireOf = wireFor(connected, "chat");
  const write = writerFor(connected, chatMessages, wireOf);
  const perform = httpHandler(connected, {
    path: "/chat/completions",
    request: (call, offered) => Either.right(chatRequest(call, options, offered, write)),
    // Unless several were asked for, all choices are one reply.
    reader: (onDelta, { model }) => chatAnswer(onDelta, { isOne: !(Number(model["n"]) > 1) }),
  });
  return wired({ name, perform, wireOf, tools: options.tools ?? [] });
};

/** Performs the calls of `openaiResponses`. */
export const responseHandler = (connected: Connected<ResponseRequestOptions>): LlmHandler => {
  const { handler: name, options } = connected;
  const wireOf = wireFor(connected, "responses");
  const write = writerFor(connected, responseItems, wireOf);
  const asking = (wish: (body: ReturnType<typeof responseRequest>) => typeof body): LlmHandler =>
    httpHandler(connected, {
      path: "/responses",
      request: (call, offered) => Either.right(wish(responseRequest(call, options, offered, write))),
      reader: responseAnswer,
    });
  const [withWish, without] = [asking((body) => body), asking(withoutEncrypted)];
  const refusing = new Set<unknown>();
  const perform: LlmHandler = async (call, context) => {
    const { include, model = options.model } = call.model;
    if (include !== undefined) return withWish(call, context);
    const outcome = refusing.has(model) ? null : await withWish(call, context);
    if (outcome !== null && !refusesInclude(outcome)) return outcome;
    const second = await without(call, context);
    // Only now is it known that nothing else was wrong.
    if (second.type === "completed") refusing.add(model);
    return second;
  };
  return wired({ name, perform, wireOf });
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
