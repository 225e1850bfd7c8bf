// Exports for hosts and their substitutes: checks of incoming values, ids of effects, repeated asks, moves of the head.
export type {
  Approval,
  Measured,
  OutstandingCall,
  RoundCall,
  Stage,
  Summarising,
  Waking,
} from "./conversation/protocol/data.ts";
export { callIdAt, deadlineId, llmId, placeIn, turnOfEffect } from "./conversation/protocol/effect-id.ts";
export { problemOfEvent, readEvent } from "./conversation/protocol/event-forms.ts";
export { foreignCallsIn } from "./conversation/update/turn-opening.ts";
export { configurationOfMachine, isConversationMachine, overlapOf } from "./conversation/machine.ts";
export { callOut, callToAnswer, waitsOutside } from "./conversation/read/outstanding.ts";
export { type Move, redoTarget, undoTarget } from "./conversation/read/turns.ts";
export { askedOtherwise, isSameInput, refusalOfRepeat } from "./conversation/read/same-ask.ts";
export { transitionRead } from "./conversation/transition.ts";
export { waitingAsks } from "./conversation/update/turn-opening.ts";
export { approvalDigest } from "./conversation/update/call.ts";
export { denialOf, notApproved } from "./conversation/update/round.ts";
export { lostEventIn } from "./journal/lost-events.ts";
export { type SummarySection, summarySections } from "./prompt/summary-message.ts";
export { chunkSize } from "./thread/chunks.ts";
export { frozenCopy } from "./thread/plain-data.ts";
export { describeValueProblem, type ValueProblem } from "./thread/plain-data.ts";
export { mostNestedInEvent, NotPlain, plainCopy, problemOfJson } from "./thread/plain-data.ts";
export { wellFormed } from "./thread/make-message.ts";
