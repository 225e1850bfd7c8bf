export { systemClock } from "./clock.ts";
export type { DecodedChat, DecodedChoice } from "./handlers/llm/chat-chunks.ts";
export type { ChatRequestOptions } from "./handlers/llm/chat-request.ts";
export { decodeChatStream } from "./handlers/llm/chat-stream.ts";
export {
  type ErrorResponse,
  failureOfErrorObject,
  failureOfResponse,
  failureOfThrown,
  type FailureSetting,
} from "./handlers/llm/failure.ts";
export { openaiChat, type OpenAiChatOptions, type OpenAiConnection } from "./handlers/llm/openai-chat.ts";
export { randomIds } from "./ids.ts";
export { filesStore, type FilesStoreOptions } from "./stores/files/files-store.ts";
export { sqliteStore, type SqliteStoreOptions } from "./stores/sqlite/sqlite-store.ts";
export { StorageError, type StorageProblem } from "./stores/storage-error.ts";
