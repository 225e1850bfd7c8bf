/** The handlers that call servers of OpenAI's dialects, without anything of Node: `@colloquy/runtime-node/openai`. */
export {
  openaiChat,
  type OpenAiChatOptions,
  openaiResponses,
  type OpenAiResponsesOptions,
  textCompletion,
  type TextCompletionOptions,
} from "./openai.ts";
export type { ChatRequestOptions, ResponseRequestOptions } from "./http-handlers.ts";
export type { TextRequestOptions } from "./text-handler.ts";
export type { OpenAiConnection } from "./transport/connection.ts";
export { type Dialect, dialects } from "./wire/dialects.ts";
