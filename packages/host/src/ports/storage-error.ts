/** A store could not do what it was asked. Nothing was written by the call that threw it, unless it is `unreachable` or `not-erased`. */
export class StorageError extends Error {
  override readonly name = "StorageError";
  readonly kind: StorageProblem;

  /** `message` names the store (its path or address, without secrets), what is wrong, and the way out. */
  constructor(kind: StorageProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * What is wrong with a store, for the caller that decides what to do about it. `cannot-open`: nothing is there, or it may
 * not be opened. `not-a-store`: something else is there. `newer`: a later version wrote it. `locked`: another process
 * kept it busy for too long; trying again may help. `full` and `io`: the disk. `corrupt`: what was stored can't be
 * read. `unreachable`: its server does not answer, or did not in time; whether a write arrived is not known, so acquire
 * and read again. `not-erased`: what was deleted or rewritten is so, but its bytes may still be on the disk. `invalid-id`: the store can't hold a thread of this id. `closed`: it was closed here. `failed`: anything else.
 */
export type StorageProblem =
  | "cannot-open"
  | "not-a-store"
  | "newer"
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
