export type { AskHandle } from "./ask/ask-handle.ts";
export { type AskOutcome, awaitMany } from "./ask/await-many.ts";
export type { AskPart, AskSignal, TextDelta, ToolCallDelta } from "./ask/parts.ts";
export type { AskResult } from "./ask/result.ts";
export * from "./ask/turn-errors.ts";
export type { ThreadDefaults } from "./context/host-context.ts";
export * from "./boundary/errors.ts";
export { messageOf } from "./boundary/thrown.ts";
export { LeaseLostError, SequenceConflictError } from "./ports/store.ts";
export type { Hooks, Observer, ObserverErrorHandler, StepEnded, TurnOpening } from "./context/hooks.ts";
export { createHost, type Host } from "./host.ts";
export { type HostOptions, hostOptionNames, type ImportOptions } from "./options.ts";
export type { AskInput, AskOptions, SteerOptions } from "./ask/ask-event.ts";
export type { ApproveOptions, DenyOptions } from "./thread/approve.ts";
export type { ForkOptions } from "./thread/fork.ts";
export type { Fork, HostedThread } from "./thread/hosted-thread.ts";
export type { Checkpoint } from "./thread/move.ts";
export { type OptionNames, problemOfOptions } from "./boundary/option-names.ts";
export type { LeftThread, ResumeAllOptions, ResumedAll } from "./thread/resume-all.ts";
export type { Resumed } from "./thread/resume.ts";
export type { RedactOptions } from "./thread/redact.ts";
export type { Receipt } from "./thread/thread-ref.ts";
export type { ForeignConversation } from "./thread/import.ts";
export { withRedactions } from "./journal/redaction.ts";
export { memoryStore } from "./memory-store/memory-store.ts";
export { disposable } from "./ports/disposable.ts";
export type * from "./ports/clock.ts";
export type * from "./ports/ids.ts";
export type * from "./ports/llm.ts";
export {
  checkedListing,
  checkLimit,
  comparePlaces,
  cursorOf,
  factsOf,
  isListed,
  type ListingPlace,
  type ListOptions,
  pageOfThreads,
  type StoredThread,
  type ThreadPage,
  type TimeRange,
} from "./ports/listing.ts";
export {
  checkedSearch,
  excerptOf,
  type SearchHit,
  type SearchOptions,
  type SearchPage,
  textOfEntry,
  wordsOf,
} from "./ports/searching.ts";
export type { Inbox, Lease, InboxItem, InboxAnswer, SnapshotDraft, Store, StoredSnapshot } from "./ports/store.ts";
export { resultReader, type ResultReaderOptions } from "./tools/result-reader.ts";
export type { SchemaIssue, SchemaResult, StandardSchema } from "./tools/schema.ts";
export { declarationsOf, tool, type Tool, type ToolCall, type ToolContext, type ToolDefinition } from "./tools/tool.ts";
export type { InputOf, ToolInput } from "./tools/tool.ts";
