// Exports for authors of stores: the port, checks of arguments and results, errors; also checks of options and of JSON
// Schemas.
export { messageOf } from "./boundary/thrown.ts";
export {
  checkKinds,
  checkOptions,
  checkValue,
  kinds,
  type OptionKind,
  type OptionKinds,
  problemOfOptions,
} from "./boundary/option-kinds.ts";
export { pageOfHits, type ReadThread } from "./ports/searching.ts";
export { withRedactions } from "./journal/read-journal.ts";
export { disposable } from "./ports/disposable.ts";
export {
  checkedListing,
  comparePlaces,
  cursorOf,
  factsOf,
  isListed,
  type ListingPlace,
  pageOfThreads,
} from "./ports/listing.ts";
export { checkedSearch, excerptOf, textOfEntry, wordsOf } from "./ports/searching.ts";
export { StorageError, type StorageProblem } from "./ports/storage-error.ts";
export { checkTtl, noSuchEntry, refuseGaps, refuseUnknownEntries } from "./ports/store-arguments.ts";
export { inboxAnswerOf, inboxItemOf, metadataIn, listedMetadata, parseStored } from "./ports/stored-json.ts";
export { partsIn } from "./turn-log/sink.ts";
export { issuesOf } from "./tools/json-schema.ts";
export { issuesInWords } from "./tools/schema.ts";
export { problemOfSchema } from "./tools/schema-problem.ts";
export {
  type Engine,
  type EngineNews,
  type Inbox,
  type InboxAnswer,
  type InboxItem,
  type Lease,
  LeaseLostError,
  type PartBatch,
  type PartBatchPlace,
  type PartLog,
  type PartLogRange,
  SequenceConflictError,
  type SnapshotDraft,
  type Store,
  type StoredPartBatch,
  type StoredSnapshot,
} from "./ports/store.ts";
