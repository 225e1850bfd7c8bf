// Exports for the options of a machine: the policies of prompts, their building blocks, counting, and prices.
export { type ModelPrice, pricesPerMillion } from "./conversation/decide/prices.ts";
export { type Counter, countMessage, countPrompt, estimateCounter } from "./prompt/counter.ts";
export type { Cut, Fields, SummarisedTurns, TurnRange } from "./prompt/cut.ts";
export { boundsOf, type NewestFirst, type Window } from "./prompt/newest-first.ts";
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
export type { SummaryLevel } from "./prompt/policies/summary-options.ts";
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
export { type InterruptedTurns, type Unit, type UnitPosition, unitsOf } from "./prompt/unit.ts";
export { checkPrompt, type PromptProblem } from "./prompt/well-formed.ts";
