/**
 * Error of a store that could not do a call. The call wrote nothing, unless the error is `unreachable` or `not-erased`.
 */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly kind: StorageProblem;

  /** `message` names the store (its path or address, without secrets), the problem, and what to do. */
  constructor(kind: StorageProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * The kind of a store's problem, for the caller that decides what to do about it. `cannot-open`: nothing is there, or
 * it may not be opened. `not-a-store`: something else is there. `newer`: a later version wrote it; `older`: an earlier
 * one did. `locked`: another
 * process kept it busy for too long; a retry may help. `full` and `io`: the disk. `corrupt`: the stored data cannot be
 * read. `unreachable`: its server does not answer, or did not in time; it is unknown whether a write arrived, so
 * acquire and read again. `not-erased`: the data was deleted or rewritten, but its bytes may still be on the disk.
 * `invalid-id`: the store cannot hold a thread with this id. `closed`: it was closed here. `failed`: anything else.
 */
export type StorageProblem =
  | "cannot-open"
  | "not-a-store"
  | "newer"
  | "older"
  | "read-only"
  | "locked"
  | "full"
  | "io"
  | "corrupt"
  | "unreachable"
  | "not-erased"
  | "invalid-id"
  | "closed"
  | "failed";
