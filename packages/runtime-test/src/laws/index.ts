export {
  type WrittenReply,
  type ChatDecoder,
  checkChatDecoder,
  type DecodedReply,
} from "./decoder/check-chat-decoder.ts";
export { differenceOf, LawBroken, type HostLawRun } from "./evidence/law-broken.ts";
export type { SaidUnits } from "./evidence/said-units.ts";
export { problemOfPrompt } from "./evidence/well-formed.ts";
export { type ApprovalLogItem, checkApprovals, lawApproved } from "./host/approved.ts";
export type { HostUnderTest } from "./host/host-under-test.ts";
export { type HostLogItem, lawNothingBeforeJournal } from "./host/journal-first.ts";
export { lawRecovery, type RecoveredRun } from "./host/recovery.ts";
export { checkRedaction, lawRedacted, type RedactionRun } from "./host/redacted.ts";
export { checkSameJournal, lawSameJournal, type MakeScriptedHost, type ScriptedParts } from "./host/same-journal.ts";
export { checkSharedThread, lawSharedThread, type SharedThreadRun } from "./host/shared-thread.ts";
export { equalStep, type XStateTransition, checkMachineLaws, laws } from "./machine/machine-laws.ts";
export { lawExplained } from "./machine/prompts.ts";
export type { MachineLaw } from "./machine/machine-law.ts";
export { deepFreeze, immutable, unfrozenIn, untouched } from "./machine/untouched.ts";
export { type ReportedCall, usageAddsUp, type UsageSubject } from "./machine/usage.ts";
export { type BadOptions, badOptionsAreRefused, fitsOrSaysSo, makesRoom, zeroMeansZero } from "./policy/fitting.ts";
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
export { cutsSeldom, promptsArePrefixes, turnNumbersAreStable } from "./policy/stable.ts";
export { decidesTheSameAgain, isNeverReplaced, moreRoomShowsMore } from "./policy/settling.ts";
export { openAndPinnedAreWhole, shownIsSubsequence, shownIsWellFormed } from "./policy/shown.ts";
export {
  checkWireLaws,
  surveyWire,
  type WireFault,
  type WireLawsReport,
  type WireLawsRun,
} from "./wire/check-wire-laws.ts";
export type { WireServer, WireTarget } from "./wire/wire-target.ts";
