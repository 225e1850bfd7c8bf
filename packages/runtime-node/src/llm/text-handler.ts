import type { LlmHandler } from "@colloquy/host";
import { answerFilter, type Template } from "@colloquy/templates";
import { failed, outcomeOfBody, outcomeOfStream } from "./chat-answer.ts";
import { decodeChatBody } from "./reply/chat-body.ts";
import { chatStream } from "./reply/chat-stream.ts";
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
    const { read, overrun } = textChunks(answerFilter(template, stopsOf(call, options)));
    const handler = httpHandler({
      connected,
      path: "/completions",
      request: (asked, declared) => textRequest(asked, template, { options, wire }, declared, context.clock.now()),
      stream: (onDelta) => {
        const { feed, end, state, decoded } = chatStream(onDelta, read);
        return {
          feed,
          end,
          state: {
            get begun() {
              return state.begun;
            },
            get finished() {
              return state.finished;
            },
            get done() {
              return state.done || overrun();
            },
            get heard() {
              return state.heard;
            },
          },
          outcome: (setting) => outcomeOfStream(decoded(), state, setting),
          failed: (failure) => failed(failure, decoded()),
        };
      },
      outcomeOfBody: (body, setting) => {
        const chat = decodeChatBody(body, read);
        return chat === null ? null : outcomeOfBody(chat, setting);
      },
    });
    return handler(call, context);
  };
