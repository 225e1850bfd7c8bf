export { differenceOf } from "./difference.ts";
export { equalStep, type XStateTransition } from "./equal-step.ts";
export { type HostLogItem, lawNothingBeforeJournal } from "./journal-first.ts";
export { LawBroken } from "./law-broken.ts";
export type { MachineLaw } from "./machine-law.ts";
export { checkMachineLaws, laws } from "./machine-laws.ts";
export { type BadOptions, badOptionsAreRefused, fitsOrSaysSo, zeroMeansZero } from "./fitting.ts";
export { checkPolicyLaws, policyLaws, type PolicyLawsRun, threadIsUntouched } from "./policy-laws.ts";
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
export { lawRecovery, type RecoveredRun } from "./recovery.ts";
export { deepFreeze } from "./untouched.ts";
export { type ReportedCall, usageAddsUp, type UsageSubject } from "./usage.ts";
export type { SaidUnits } from "./said-units.ts";
export { decidesTheSameAgain, isNeverReplaced, moreRoomShowsMore } from "./settling.ts";
export { openAndPinnedAreWhole, shownIsSubsequence, shownIsWellFormed } from "./shown.ts";
export { turnNumbersAreStable } from "./turn-numbers.ts";
