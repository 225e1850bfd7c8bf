import type { LlmHandler } from "@colloquy/host";
import { answerFilter, type Template } from "@colloquy/templates";
import { chatAnswers } from "./chat-answer.ts";
import { textChunks } from "./reply/text-chunks.ts";
import { stopsOf, textRequest, type TextRequestOptions } from "./text-request.ts";
import type { Connected } from "./transport/connection.ts";
import { httpHandler } from "./transport/http-handler.ts";
import { wireFor } from "./wire/wired.ts";

/** Performs the calls of `textCompletion`. */
export const textHandler =
  (template: Template, connected: Connected<TextRequestOptions>): LlmHandler =>
  (call, context) => {
    const { options } = connected;
    const wire = wireFor(connected, "text")(call);
    const format = textChunks(answerFilter(template, stopsOf(call, options)));
    const handler = httpHandler({
      connected,
      path: "/completions",
      request: (asked, declared) => textRequest(asked, template, { options, wire }, declared, context.clock.now()),
      ...chatAnswers(() => format),
    });
    return handler(call, context);
  };
