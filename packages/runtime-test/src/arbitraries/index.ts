export { eventArbitrary } from "./event.ts";
export {
  journalArbitrary,
  type Play,
  playArbitrary,
  scheduleFor,
  stateArbitrary,
  threadArbitrary,
  traceArbitrary,
} from "./journal.ts";
export { jsonArbitrary, jsonObjectArbitrary } from "./json.ts";
export {
  brokenSeedArbitrary,
  contentArbitrary,
  contentPartArbitrary,
  messageDraftArbitrary,
  replyPartArbitrary,
  seedArbitrary,
  systemDraftArbitrary,
} from "./message.ts";
export { budgetArbitrary, machineOptionsArbitrary, templateCounter } from "./options.ts";
export {
  failureArbitrary,
  failureKinds,
  limitNames,
  limitsArbitrary,
  reportedUsageArbitrary,
  toolOutcomeArbitrary,
} from "./outcome.ts";
export { overlapArbitrary, overlapTypes } from "./overlap.ts";
export { fickle, hostilePolicies, policyArbitrary, scribbling, whimsical, wilful } from "./policy.ts";
export { partialArbitrary, replyArbitrary } from "./reply.ts";
export { runSchedule } from "./run-schedule.ts";
export {
  composedPolicyArbitrary,
  plainPolicyArbitraries,
  shippedPolicyArbitrary,
  summarisingPolicyArbitraries,
} from "./shipped-policy.ts";
export { scheduleArbitrary } from "./schedule-arbitrary.ts";
export type { Move, Schedule } from "./schedule.ts";
export { realSubject, type Subject } from "./subject.ts";
export { nameArbitrary, textArbitrary } from "./text.ts";
export { toolDeclarationArbitrary, toolsArbitrary } from "./tool.ts";
export { type ToolNames, toolCallDraftArbitrary } from "./tool-call.ts";
export { entriesOf, handledSteps, type HandledStep, statesOf, type Trace, type TraceStep } from "./trace.ts";
