export { reasonOf } from "./failure-report.ts";
export { systemClock } from "./ports/system.ts";
export * from "./llm/index.ts";
export type { DecodedChoice } from "./llm/reply/growing-choice.ts";
export { type DecodedChat, decodeChatStream } from "./llm/reply/chat-answer.ts";
export { decodeResponseBody, type DecodedResponse, decodeResponseStream } from "./llm/reply/response-answer.ts";
export {
  type ErrorResponse,
  failureOfErrorObject,
  failureOfResponse,
  failureOfThrown,
  type FailureSetting,
} from "./llm/failure/failure.ts";
export { type ErrorAnswer, errorTextOf } from "@colloquy/host/runtime";
export { randomIds } from "./ports/system.ts";
export { filesStore, type FilesStoreOptions } from "./stores/files/files-store.ts";
export { sqliteStore, type SqliteStoreOptions } from "./stores/sqlite/sqlite-store.ts";
export { StorageError, type StorageProblem } from "@colloquy/host/store";
export * from "@colloquy/host";
export { createHost, type HostOptions } from "./host.ts";
export { memoryStore } from "./stores/memory-store.ts";
