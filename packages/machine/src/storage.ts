// What a host keeps beside a journal, and the one way in which a journal is rewritten.
export { redactedText } from "./conversation/update/redacted.ts";
export { redactEntry } from "./redaction/redact.ts";
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
