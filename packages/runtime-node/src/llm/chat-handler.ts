import type { LlmHandler } from "@colloquy/host";
import * as Either from "fp-ts/lib/Either.js";
import { chatAnswers } from "./chat-answer.ts";
import { chatMessages, chatRequest, type ChatRequestOptions } from "./chat-request.ts";
import type { Connected } from "./transport/connection.ts";
import { httpHandler } from "./transport/http-handler.ts";
import { writerFor } from "./transport/written-messages.ts";
import { wired, wireFor } from "./wire/wired.ts";

/** Performs the calls of `openaiChat`. */
export const chatHandler = (connected: Connected<ChatRequestOptions>): LlmHandler => {
  const wireOf = wireFor(connected, "chat");
  const write = writerFor(connected, chatMessages, wireOf);
  const perform = httpHandler({
    connected,
    path: "/chat/completions",
    request: (call, offered) => Either.right(chatRequest(call, connected.options, offered, write)),
    // Unless several were asked for, all choices are one reply.
    ...chatAnswers(({ model }) => ({ isOne: !(Number(model["n"]) > 1) })),
  });
  return wired({ name: connected.handler, perform, wireOf, tools: connected.options.tools ?? [] });
};
