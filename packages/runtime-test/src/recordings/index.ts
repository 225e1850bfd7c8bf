export {
  canonicalJson,
  type CanonicalCall,
  type CanonicalMessage,
  canonicalOf,
  canonicalOfMessage,
  sha256OfMessages,
} from "./canonical.ts";
export { canonicalInput, type CanonicalItem, canonicalItemOf, sameItem, sha256OfItems } from "./canonical-item.ts";
export * from "./case.ts";
export { type CaseDifference, describeCaseDifference, firstDifference } from "./difference.ts";
export { protocolProblemOf, type ProtocolProblem } from "./protocol.ts";
export { addFigures, type Figures, noFigures } from "./figures.ts";
export { type CaseFile, readRecordings, type RecordingFolder, type RecordsOf, type UnreadableLine } from "./folder.ts";
export { journalLines, type JournalReplay, replayJournal } from "./journal.ts";
export type { CaseReplay } from "./case-replay.ts";
export { type CaseReplayOptions, recordingMachine, replayCase } from "./replay-case.ts";
export type { RecordedInput, RecordedOutput, RecordedResponsesCase, RecordedResponsesStep } from "./responses-case.ts";
export type { RecordedError, RecordedExchange, ExchangeResponse, RecordedStream } from "./wire-records.ts";
