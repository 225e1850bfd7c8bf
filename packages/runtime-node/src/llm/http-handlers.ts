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
import { exchanges } from "./transport/exchange.ts";
import { writerFor } from "./transport/written-messages.ts";
import { wired, wireFor } from "./wire/wired.ts";

/** Performs the calls of `openaiChat`. */
export const chatHandler = (connected: Connected<ChatRequestOptions>): LlmHandler => {
  const { handler: name, options } = connected;
  const wireOf = wireFor(connected, "chat");
  const write = writerFor(connected, chatMessages, wireOf);
  return wired({
    name,
    wireOf,
    tools: options.tools ?? [],
    request: (call, offered) => Either.right(chatRequest(call, options, offered, write)),
    perform: exchanges(connected, {
      path: "/chat/completions",
      // Unless several were asked for, all choices are one reply.
      reader: (onDelta, { model }) => chatAnswer(onDelta, { isOne: !(Number(model["n"]) > 1) }),
    }),
  });
};

/** Performs the calls of `openaiResponses`. */
export const responseHandler = (connected: Connected<ResponseRequestOptions>): LlmHandler => {
  const { handler: name, options } = connected;
  const wireOf = wireFor(connected, "responses");
  const write = writerFor(connected, responseItems, wireOf);
  const send = exchanges(connected, { path: "/responses", reader: responseAnswer });
  const refusing = new Set<unknown>();
  return wired({
    name,
    wireOf,
    request: (call, offered) => Either.right(responseRequest(call, options, offered, write)),
    perform: async (body, call, context) => {
      const { model } = body;
      if (call.model["include"] !== undefined) return send(body, call, context);
      const outcome = refusing.has(model) ? null : await send(body, call, context);
      if (outcome !== null && !refusesInclude(outcome)) return outcome;
      const second = await send(withoutEncrypted(body), call, context);
      // Only now is it known that nothing else was wrong.
      if (second.type === "completed") refusing.add(model);
      return second;
    },
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
