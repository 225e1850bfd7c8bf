/** The handlers that call servers of OpenAI's dialects, without anything of Node: `@colloquy/runtime-node/openai`. */
export { type ChatRequestOptions } from "./chat-request.ts";
export { type Dialect, dialects } from "./wire/dialects.ts";
export { openaiChat, type OpenAiChatOptions } from "./openai-chat.ts";
export { openaiResponses, type OpenAiResponsesOptions } from "./openai-responses.ts";
export { type ResponseRequestOptions } from "./response-request.ts";
export { textCompletion, type TextCompletionOptions } from "./text-completion.ts";
export { type TextRequestOptions } from "./text-request.ts";
export { type OpenAiConnection } from "./transport/connection.ts";
