export { type ApprovalLogItem, lawApproved } from "./host/approved.ts";
export { checkApprovals } from "./host/check-approvals.ts";
export { checkChatDecoder, type ChatDecoder, type DecodedReply } from "./decoder/check-chat-decoder.ts";
export type { WrittenReply } from "./decoder/chat-forms.ts";
export { checkRedaction } from "./host/check-redaction.ts";
export { checkSameJournal, type MakeScriptedHost, type ScriptedParts } from "./host/check-same-journal.ts";
export { checkSharedThread } from "./host/check-shared-thread.ts";
export { differenceOf } from "./evidence/difference.ts";
export { equalStep, type XStateTransition } from "./machine/equal-step.ts";
export { lawExplained } from "./machine/explained.ts";
export type { HostLawRun, HostUnderTest } from "./host/host-under-test.ts";
export { immutable } from "./machine/immutable.ts";
export { type HostLogItem, lawNothingBeforeJournal } from "./host/journal-first.ts";
export { LawBroken } from "./evidence/law-broken.ts";
export type { MachineLaw } from "./machine/machine-law.ts";
export { checkMachineLaws, laws } from "./machine/machine-laws.ts";
export { type BadOptions, badOptionsAreRefused, fitsOrSaysSo, zeroMeansZero } from "./policy/fitting.ts";
export { makesRoom } from "./policy/making-room.ts";
export { newestIsShownFirst, newestIsShownFirstAtLength } from "./policy/newest-first.ts";
export {
  checkPolicyLaws,
  policyLaws,
  type PolicyLawsReport,
  type PolicyLawsRun,
  threadIsUntouched,
} from "./policy/policy-laws.ts";
export {
  type HowToLook,
  type Look,
  type PolicyLaw,
  type PolicyRun,
  policyRunOf,
  runPolicy,
  type View,
} from "./policy/policy-run.ts";
export { cutsSeldom, promptsArePrefixes } from "./policy/prefixes.ts";
export { problemOfPrompt } from "./machine/prompts.ts";
export { lawRedacted, type RedactionRun } from "./host/redacted.ts";
export { lawSameJournal } from "./host/same-journal.ts";
export { lawSharedThread, type SharedThreadRun } from "./host/shared-thread.ts";
export { lawRecovery, type RecoveredRun } from "./host/recovery.ts";
export { deepFreeze, unfrozenIn, untouched } from "./machine/untouched.ts";
export { type ReportedCall, usageAddsUp, type UsageSubject } from "./machine/usage.ts";
export type { SaidUnits } from "./evidence/said-units.ts";
export { decidesTheSameAgain, isNeverReplaced, moreRoomShowsMore } from "./policy/settling.ts";
export { openAndPinnedAreWhole, shownIsSubsequence, shownIsWellFormed } from "./policy/shown.ts";
export { turnNumbersAreStable } from "./policy/turn-numbers.ts";
export {
  checkWireLaws,
  surveyWire,
  type WireFault,
  type WireLawsReport,
  type WireLawsRun,
} from "./wire/check-wire-laws.ts";
export type { WireServer, WireTarget } from "./wire/wire-target.ts";
