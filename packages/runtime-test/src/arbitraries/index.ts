export * from "./event.ts";
export * from "./journal.ts";
export * from "./json.ts";
export {
  brokenSeedArbitrary,
  contentArbitrary,
  contentPartArbitrary,
  messageDraftArbitrary,
  replyPartArbitrary,
  seedArbitrary,
  systemDraftArbitrary,
} from "./message.ts";
export * from "./options.ts";
export * from "./outcome.ts";
export * from "./overlap.ts";
export * from "./policy.ts";
export { partialArbitrary, replyArbitrary } from "./reply.ts";
export { runSchedule } from "./run-schedule.ts";
export * from "./shipped-policy.ts";
export { scheduleArbitrary } from "./schedule-arbitrary.ts";
export * from "./schedule.ts";
export * from "./subject.ts";
export * from "./text.ts";
export * from "./tool.ts";
export * from "./tool-call.ts";
export { entriesOf, handledSteps, type HandledStep, statesOf, type Trace, type TraceStep } from "./trace.ts";
