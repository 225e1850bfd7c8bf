// Exports for the data that a host stores beside a journal, and for redaction, which is the only way to rewrite a
// journal.
export { redactedText } from "./conversation/protocol/form.ts";
export { redactEntry } from "./redaction/target.ts";
export { entriesToRedact, isRedactionTarget, type RedactionTarget } from "./redaction/target.ts";
export { SnapshotDamagedError } from "./snapshot/chunks.ts";
export {
  anchorOf,
  loadAll,
  loadMessages,
  readSnapshot,
  type ReadSnapshot,
  type Snapshot,
  takeSnapshot,
} from "./snapshot/snapshot.ts";
export { StoredChunks } from "./snapshot/stored.ts";
