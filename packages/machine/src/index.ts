export * from "./thread/json.ts";
export { describeValueProblem, type ValueProblem } from "./thread/json-problem.ts";
export { NotPlain, plainCopy, problemOfJson } from "./thread/plain-copy.ts";
export { readEvent } from "./conversation/event-shape.ts";
export * from "./thread/message.ts";
export { chunkSize, type Chunks, toArray } from "./thread/chunks.ts";
export { canonicalText, digestOf, digestOfMessage, digestOfPrompt } from "./thread/digest.ts";
export { frozenCopy } from "./thread/frozen.ts";
export { messageFromDraft, messageFromReply, messageFromResult } from "./thread/draft.ts";
export { messagesFromSeed, type SeedDraft, type SeedReply, type SeedResult } from "./thread/seed.ts";
export type { Summary } from "./thread/summary.ts";
export type { SystemDraft } from "./thread/system.ts";
export type { Pin, Thread } from "./thread/thread.ts";
export type * from "./thread/turn.ts";
export * from "./thread/usage.ts";

export { ConfigurationError } from "./prompt/configuration-error.ts";
export { type Counter, countMessage, countPrompt, estimateCounter } from "./prompt/counter.ts";
export type { Cut, InterruptedTurns, SummarisedTurns, TurnRange, UnitPosition } from "./prompt/cut.ts";
export type { Fields } from "./prompt/fields.ts";
export type { NewestFirst } from "./prompt/newest-first.ts";
export { clearResults, type ClearResultsOptions } from "./prompt/policies/clear-results.ts";
export { compactTurns, type CompactTurnsOptions } from "./prompt/policies/compact-turns.ts";
export { compose, type ComposedPolicy } from "./prompt/policies/compose.ts";
export { fitOversized, type FitOversizedOptions } from "./prompt/policies/fit-oversized.ts";
export { keepAll } from "./prompt/policies/keep-all.ts";
export { lastMessages, type LastMessagesOptions } from "./prompt/policies/last-messages.ts";
export { lastTurns, type LastTurnsOptions } from "./prompt/policies/last-turns.ts";
export { limitResults, type LimitResultsOptions } from "./prompt/policies/limit-results.ts";
export { omitFields } from "./prompt/policies/omit-fields.ts";
export { onlyInputs } from "./prompt/policies/only-inputs.ts";
export { summariseTurns, type SummariseTurnsOptions } from "./prompt/policies/summarise-turns.ts";
export type { SummaryLevel } from "./prompt/policies/summary-instructions.ts";
export type { SummaryOptions } from "./prompt/policies/summary-options.ts";
export { tokenWindow, type TokenWindowOptions } from "./prompt/policies/token-window.ts";
export type {
  Budget,
  History,
  HistoryTurn,
  Policy,
  PolicyDecision,
  PolicyInput,
  Summariser,
  SummaryWanted,
} from "./prompt/policy.ts";
export { type Shrink, shortestShrink, shrinkMessage, textOfResult } from "./prompt/shrink.ts";
export { summaryLines } from "./prompt/summary-message.ts";
export { type Unit, unitsOf } from "./prompt/unit.ts";
export { checkPrompt, type PromptProblem } from "./prompt/well-formed.ts";

export { approvalDigest } from "./conversation/approval-digest.ts";
export { approvalsOf } from "./conversation/approvals.ts";
export { SeedError, type ThreadInput } from "./conversation/begin.ts";
export type {
  Approvable,
  Approval,
  ConversationData,
  DroppedAsk,
  DroppedBecause,
  Fullness,
  Measured,
  OpenTurn,
  OutstandingCall,
  QueuedAsk,
  RoundCall,
  Stage,
  Summarising,
  ThreadUsage,
  Waking,
} from "./conversation/data.ts";
export type * from "./conversation/effect.ts";
export { callIdAt, turnOfEffect } from "./conversation/effect-id.ts";
export { type Entry, type FirstEntry, firstFormat, journalFormat, type LaterEntry } from "./conversation/entry.ts";
export type * from "./conversation/event.ts";
export { neededFormat, raiseFormatFor } from "./conversation/format.ts";
export type { Limits } from "./conversation/limits.ts";
export { type ConversationMachine, conversationMachine } from "./conversation/machine.ts";
export type * from "./conversation/options.ts";
export { outstanding } from "./conversation/outstanding.ts";
export { type Prompt, promptOf } from "./conversation/prompt-of.ts";
export { lastTurnOf, messagesOf, turnNumbered, turnsOf } from "./conversation/read.ts";
export type { Refusal, RefusalKind } from "./conversation/refusal.ts";
export { foreignCallsIn } from "./conversation/lost-calls.ts";
export { askedOtherwise, isSameInput, refusalOfRepeat } from "./conversation/same-ask.ts";
export { type Phase, phaseOf, type State, type StateValue } from "./conversation/state.ts";
export type { ToolDeclaration, ToolRecovery } from "./conversation/tool.ts";
export {
  type Handled,
  type Refused,
  start,
  type Started,
  type Transition,
  transition,
} from "./conversation/transition.ts";
export { configurationOfMachine, fingerprintOf, toolsOf } from "./conversation/identity.ts";

export { fold, foldEntry, type JournalError } from "./journal/fold.ts";
export { decodeEntry, decodeEvent, decodeJournal, type DecodeError, describeDecodeError } from "./journal/codec.ts";
export type { PromptChange } from "./journal/prompt-difference.ts";
export { describeDifference, type Difference, replay, type ReplayOptions } from "./journal/replay.ts";
export {
  type ChatMessage,
  type ChatMessageOptions,
  fromChatMessage,
  replyFromChatMessage,
  toChatMessage,
} from "./interchange/chat.ts";
export { fromChatMessages, toChatMessages } from "./interchange/chat-messages.ts";
export type { Imported, ImportOptions } from "./interchange/import-conversation.ts";
export type { ImportProblem } from "./interchange/import-problem.ts";
export type { Exported, Loss } from "./interchange/loss.ts";
export { fromModelMessages, type ModelMessage, toModelMessages } from "./interchange/model-messages.ts";
export { fromResponseItems, type ResponseItem, toResponseItems } from "./interchange/response-items.ts";
export { fromUiMessages, toUiMessages, type UiMessage, type UiMessagePart } from "./interchange/ui-messages.ts";

export type { ExplanationRule, UnitExplanation, UnitShown } from "./prompt/explain-units.ts";
export { explain, type Explanation, type SummaryExplanation } from "./conversation/explain.ts";
export { explanationTable } from "./conversation/explanation-table.ts";
export { figuresOf, type ThreadFigures, type TurnFigures } from "./conversation/figures.ts";
export { comparePrompts, type NamedJournal } from "./journal/compare.ts";
export type * from "./journal/comparison.ts";
export { comparisonTable } from "./journal/comparison-table.ts";
export { type ForkedJournal, type ForkInput, forkOf, type LeftBehind, type LeftEntry } from "./journal/fork.ts";
export { differenceBetween, type StateAspect, type StateChange, type StateDifference } from "./journal/difference.ts";
export { differenceTable } from "./journal/difference-table.ts";
export { redactedText } from "./conversation/redacted.ts";
export {
  anchorOf,
  loadAll,
  loadMessages,
  readSnapshot,
  type ReadSnapshot,
  type Snapshot,
  takeSnapshot,
} from "./journal/snapshot.ts";
export { SnapshotDamagedError } from "./journal/snapshot-damaged.ts";
export { StoredChunks } from "./journal/snapshot-stored.ts";
export { lostEventIn } from "./journal/lost-events.ts";
export { redactEntry } from "./journal/redact.ts";
export { entriesToRedact, type RedactionTarget } from "./journal/redact-target.ts";
export { stateAt } from "./journal/time-travel.ts";
export { type Move, redoTarget, undoTarget } from "./conversation/moves.ts";
export { askNamed, type AskRecord, asksOf, type AskStatus } from "./conversation/asked.ts";
