export {
  type CanonicalCall,
  canonicalInput,
  type CanonicalItem,
  canonicalItemOf,
  canonicalJson,
  type CanonicalMessage,
  canonicalOf,
  canonicalOfMessage,
  sameItem,
  sha256OfItems,
  sha256OfMessages,
  protocolProblemOf,
  type ProtocolProblem,
} from "./canonical.ts";
export * from "./case.ts";
export { type CaseDifference, describeCaseDifference, firstDifference } from "./difference.ts";
export { addFigures, type Figures, noFigures } from "./drive.ts";
export { type CaseFile, readRecordings, type RecordingFolder, type RecordsOf, type UnreadableLine } from "./folder.ts";
export { journalLines, type JournalReplay, replayJournal } from "./journal.ts";
export { type CaseReplay, type CaseReplayOptions, recordingMachine, replayCase } from "./replay-case.ts";
export type { ExchangeResponse, RecordedError, RecordedExchange, RecordedStream } from "./wire-records.ts";
