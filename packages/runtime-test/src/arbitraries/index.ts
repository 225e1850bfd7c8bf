export * from "./event.ts";
export * from "./journal.ts";
export {
  brokenSeedArbitrary,
  contentArbitrary,
  contentPartArbitrary,
  messageDraftArbitrary,
  partialArbitrary,
  replyArbitrary,
  replyPartArbitrary,
  seedArbitrary,
  systemDraftArbitrary,
  failureArbitrary,
  failureKinds,
  limitNames,
  limitsArbitrary,
  overlapArbitrary,
  overlapTypes,
  reportedUsageArbitrary,
  toolOutcomeArbitrary,
  toolCallDraftArbitrary,
  toolDeclarationArbitrary,
  type ToolNames,
  toolsArbitrary,
} from "./message.ts";
export * from "./options.ts";
export * from "./policy.ts";
export { runSchedule } from "./run-schedule.ts";
export { scheduleArbitrary } from "./schedule-arbitrary.ts";
export type { Move, Schedule } from "./schedule.ts";
export * from "./shipped-policy.ts";
export {
  entriesOf,
  type HandledStep,
  handledSteps,
  realSubject,
  statesOf,
  type Subject,
  type Trace,
  type TraceStep,
} from "./trace.ts";
export { jsonArbitrary, jsonObjectArbitrary, nameArbitrary, textArbitrary } from "./values.ts";
