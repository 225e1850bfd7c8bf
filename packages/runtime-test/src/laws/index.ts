export { type ApprovalLogItem, lawApproved } from "./approved.ts";
export { checkApprovals } from "./check-approvals.ts";
export { checkRedaction } from "./check-redaction.ts";
export { checkSameJournal, type MakeScriptedHost, type ScriptedParts } from "./check-same-journal.ts";
export { checkSharedThread } from "./check-shared-thread.ts";
export { differenceOf } from "./difference.ts";
export { equalStep, type XStateTransition } from "./equal-step.ts";
export { lawExplained } from "./explained.ts";
export type { HostLawRun, HostUnderTest } from "./host-under-test.ts";
export { immutable } from "./immutable.ts";
export { type HostLogItem, lawNothingBeforeJournal } from "./journal-first.ts";
export { LawBroken } from "./law-broken.ts";
export type { MachineLaw } from "./machine-law.ts";
export { checkMachineLaws, laws } from "./machine-laws.ts";
export { type BadOptions, badOptionsAreRefused, fitsOrSaysSo, zeroMeansZero } from "./fitting.ts";
export { makesRoom } from "./making-room.ts";
export { newestIsShownFirst } from "./newest-first.ts";
export {
  checkPolicyLaws,
  policyLaws,
  type PolicyLawsReport,
  type PolicyLawsRun,
  threadIsUntouched,
} from "./policy-laws.ts";
export {
  type HowToLook,
  type Look,
  type PolicyLaw,
  type PolicyRun,
  policyRunOf,
  runPolicy,
  type View,
} from "./policy-run.ts";
export { cutsSeldom, promptsArePrefixes } from "./prefixes.ts";
export { problemOfPrompt } from "./prompts.ts";
export { lawRedacted, type RedactionRun } from "./redacted.ts";
export { lawSameJournal } from "./same-journal.ts";
export { lawSharedThread, type SharedThreadRun } from "./shared-thread.ts";
export { lawRecovery, type RecoveredRun } from "./recovery.ts";
export { deepFreeze, untouched } from "./untouched.ts";
export { type ReportedCall, usageAddsUp, type UsageSubject } from "./usage.ts";
export type { SaidUnits } from "./said-units.ts";
export { decidesTheSameAgain, isNeverReplaced, moreRoomShowsMore } from "./settling.ts";
export { openAndPinnedAreWhole, shownIsSubsequence, shownIsWellFormed } from "./shown.ts";
export { turnNumbersAreStable } from "./turn-numbers.ts";
