export { reasonOf } from "./failure-report.ts";
export { systemClock } from "./ports/clock.ts";
export type { DecodedChat, DecodedChoice } from "./llm/reply/chat-chunks.ts";
export type { ChatRequestOptions } from "./llm/chat-request.ts";
export { type Dialect, dialects } from "./llm/wire/dialects.ts";
export { decodeChatStream } from "./llm/reply/chat-stream.ts";
export type { ResponseRequestOptions } from "./llm/response-request.ts";
export { decodeResponseBody, type DecodedResponse, decodeResponseStream } from "./llm/reply/response-stream.ts";
export {
  type ErrorResponse,
  failureOfErrorObject,
  failureOfResponse,
  failureOfThrown,
  type FailureSetting,
} from "./llm/failure/failure.ts";
export { openaiChat, type OpenAiChatOptions } from "./llm/openai-chat.ts";
export { openaiResponses, type OpenAiResponsesOptions } from "./llm/openai-responses.ts";
export type { OpenAiConnection } from "./llm/transport/connection.ts";
export { textCompletion, type TextCompletionOptions } from "./llm/text-completion.ts";
export type { TextRequestOptions } from "./llm/text-request.ts";
export { type ErrorAnswer, errorTextOf } from "@colloquy/host/runtime";
export { randomIds } from "./ports/ids.ts";
export { filesStore, type FilesStoreOptions } from "./stores/files/files-store.ts";
export { sqliteStore, type SqliteStoreOptions } from "./stores/sqlite/sqlite-store.ts";
export { StorageError, type StorageProblem } from "@colloquy/host/store";
export * from "@colloquy/host";
export { createHost, type HostOptions } from "./host.ts";
export { memoryStore } from "./stores/memory-store.ts";
