// What an author of a store needs: the port, what its methods check and give, its errors.
export { messageOf } from "./boundary/thrown.ts";
export { type OptionNames, problemOfOptions } from "./boundary/option-names.ts";
export { withRedactions } from "./journal/redaction.ts";
export { disposable } from "./ports/disposable.ts";
export {
  checkedListing,
  checkLimit,
  comparePlaces,
  cursorOf,
  factsOf,
  isListed,
  type ListingPlace,
  pageOfThreads,
} from "./ports/listing.ts";
export type { PartBatch, PartBatchPlace, PartLog, PartLogRange, StoredPartBatch } from "./ports/part-log.ts";
export { checkedSearch, excerptOf, textOfEntry, wordsOf } from "./ports/searching.ts";
export {
  type Inbox,
  type InboxAnswer,
  type InboxItem,
  type Lease,
  LeaseLostError,
  SequenceConflictError,
  type SnapshotDraft,
  type Store,
  type StoredSnapshot,
} from "./ports/store.ts";
