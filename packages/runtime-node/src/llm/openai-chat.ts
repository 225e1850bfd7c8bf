import type { LlmHandler } from "@colloquy/host";
import type { ChatRequestOptions } from "./chat-request.ts";
import { connect, loadedLater, type OpenAiConnection } from "./transport/connection.ts";

export type OpenAiChatOptions = ChatRequestOptions & OpenAiConnection;

/**
 * Calls any server that speaks OpenAI's chat completions. It reads the bytes itself, since the SDK's own decoding
 * loses calls and throws on what servers really send. Throws only here and at once, for options that
 * are invalid. The environment is read by the first call: without a key each call fails as `auth`, which names the variable.
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
  const connected = connect<ChatRequestOptions>("openaiChat", given, optionNames);
  return loadedLater(connected, async () => (await import("./chat-handler.ts")).chatHandler(connected));
};

const optionNames = {
  model: true,
  dialect: true,
  tools: true,
  stream: true,
  includeUsage: true,
  writtenBytes: true,
} as const;
