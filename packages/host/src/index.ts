export type { AskHandle } from "./ask/ask-handle.ts";
export { type AskOutcome, awaitMany } from "./ask/await-many.ts";
export type { AskPart, AskSignal, DeepPartial, OutputPartial, TextDelta, ToolCallDelta } from "./turn-log/parts.ts";
export type { AskResult, CompletedTurn } from "./ask/result.ts";
export * from "./ask/turn-errors.ts";
export { type CallLimits, limitCalls } from "./calls/limit-calls.ts";
export type { RecoveryOptions, ThreadDefaults } from "./context/host-context.ts";
export * from "./boundary/errors.ts";
export type {
  Hooks,
  LeftThread,
  Observer,
  ObserverErrorHandler,
  Recovered,
  StatesAround,
  StepEnded,
  TurnOpening,
} from "./context/hooks.ts";
export { createHost, type Host } from "./host.ts";
export { type HostOptions, hostOptionKinds, type ImportOptions } from "./options.ts";
export type { AskInput, AskOptions, SteerOptions } from "./ask/ask-options.ts";
export type { ApproveOptions, DenyOptions, ToolAnswer } from "./thread/answer-tool.ts";
export type { ForkOptions } from "./thread/history.ts";
export type { Fork, HostedThread } from "./thread/hosted-thread.ts";
export type { Checkpoint } from "./thread/move.ts";
export type { RejoinOptions } from "./thread/rejoin.ts";
export type { Resumed } from "./thread/resume.ts";
export type { RedactOptions } from "./thread/redact.ts";
export type { Receipt } from "./thread/thread-ref.ts";
export type { ForeignConversation } from "./thread/import.ts";
export type { OutputOf, OutputOptions, OutputSchema, WrittenOf } from "./output/expected.ts";
export { type OutputRequest, outputRequest } from "./output/request.ts";
export { type StrictProblem, strictProblems, strictSchema } from "./output/strict.ts";
export { memoryStore } from "./memory-store/memory-store.ts";
export type * from "./ports/clock.ts";
export type * from "./ports/ids.ts";
export type * from "./ports/llm.ts";
export type { ListOptions, StoredThread, ThreadPage, TimeRange } from "./ports/listing.ts";
export type { SearchHit, SearchOptions, SearchPage } from "./ports/searching.ts";
export type { Store } from "./ports/store.ts";
export { resultReader, type ResultReaderOptions } from "./tools/result-reader.ts";
export { type SchemaIssue, type SchemaResult, type StandardSchema, withJsonSchema } from "./tools/schema.ts";
export { declarationsOf, tool, type Tool, type ToolCall, type ToolContext, type ToolDefinition } from "./tools/tool.ts";
export type { CallerToolDefinition, InputOf, ToolInput } from "./tools/tool.ts";
