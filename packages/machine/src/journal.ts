// Exports for stored threads: reading, folding and forking entries.
export type { Entry, FirstEntry, LaterEntry } from "./conversation/protocol/entry.ts";
export { journalFormat } from "./conversation/protocol/entry.ts";
export { decodeEntry, decodeEvent, decodeJournal, type DecodeError, describeDecodeError } from "./journal/codec.ts";
export { fold, foldEntry, foldVisiting, type JournalError, stateAt, type Visit } from "./journal/fold.ts";
export { type ForkedJournal, type ForkInput, forkOf, type LeftBehind, type LeftEntry } from "./journal/fork.ts";
