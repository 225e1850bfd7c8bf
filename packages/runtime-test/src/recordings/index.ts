export {
  canonicalJson,
  type CanonicalCall,
  type CanonicalMessage,
  canonicalOf,
  canonicalOfMessage,
  sha256OfMessages,
} from "./canonical.ts";
export * from "./case.ts";
export { type CaseDifference, describeCaseDifference, firstDifference } from "./difference.ts";
export { protocolProblemOf, type ProtocolProblem } from "./protocol.ts";
export { addFigures, type Figures, noFigures } from "./figures.ts";
export { type CaseFile, readRecordings, type RecordingFolder, type RecordsOf, type UnreadableLine } from "./folder.ts";
export { journalLines, type JournalReplay, replayJournal } from "./journal.ts";
export { type CaseReplay, type CaseReplayOptions, recordingMachine, replayCase } from "./replay-case.ts";
export type { RecordedError, RecordedExchange, ExchangeResponse, RecordedStream } from "./wire-records.ts";
