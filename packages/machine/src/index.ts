// Exports for every reader of a conversation. More special exports are in `/policies`, `/journal`, `/inspect`,
// `/storage` and `/hosting`.
export type { Json, JsonObject } from "./thread/plain-data.ts";
export type * from "./thread/message.ts";
export { contentText, partText, textOf, toolCallsOf, toolResultOf } from "./thread/message.ts";
export { type Chunks, toArray } from "./thread/chunks.ts";
export { canonicalText, digestOf, digestOfMessage, digestOfPrompt } from "./thread/make-message.ts";
export { messageFromDraft, messageFromReply, messageFromResult } from "./thread/make-message.ts";
export { messagesFromSeed, type SeedDraft, type SeedReply, type SeedResult } from "./thread/seed.ts";
export type { Pin, Thread } from "./thread/thread.ts";
export type * from "./thread/turn.ts";
export * from "./thread/usage.ts";

export { ConfigurationError } from "./prompt/configuration-error.ts";
export type { Budget } from "./prompt/policy.ts";

export { saysCut } from "./conversation/decide/outcome.ts";
export { SeedError } from "./conversation/update/begin.ts";
export type {
  Approvable,
  ConversationData,
  DroppedAsk,
  DroppedBecause,
  OpenTurn,
  QueuedAsk,
  ThreadUsage,
} from "./conversation/protocol/data.ts";
export type {
  AnswerableEffect,
  CallLlm,
  CallTool,
  CancelApproval,
  CancelCheck,
  CancelLlm,
  CancelTimer,
  CancelTool,
  CheckOutput,
  Effect,
  OneShotEffect,
  Publish,
  RequestApproval,
  Signal,
  StartTimer,
} from "./conversation/protocol/effect.ts";
export type { Decided, Entry, FirstEntry, Fullness, LaterEntry } from "./conversation/protocol/entry.ts";
export type * from "./conversation/protocol/event.ts";
export type { Limits } from "./conversation/protocol/limits.ts";
export type { Refusal, RefusalKind } from "./conversation/protocol/refusal.ts";
export { type Phase, phaseOf, type State, type StateValue } from "./conversation/protocol/data.ts";
export type { ToolDeclaration, ToolRecovery } from "./conversation/protocol/tool.ts";
export type * from "./conversation/decide/options.ts";
export { askNamed, type AskRecord, asksOf, type AskStatus } from "./conversation/read/asks.ts";
export { approvalsOf, callsToAnswer, outstanding } from "./conversation/read/outstanding.ts";
export { lastTurnOf, messagesOf, turnNumbered, turnsOf } from "./conversation/read/turns.ts";
export { type ConversationMachine, conversationMachine, fingerprintOf, toolsOf } from "./conversation/machine.ts";
export { type Prompt, promptOf } from "./conversation/prompt-of.ts";
export {
  type Handled,
  type Refused,
  start,
  type Started,
  type Transition,
  transition,
} from "./conversation/transition.ts";
