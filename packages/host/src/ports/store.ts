import type { Entry } from "@colloquy/machine";

/**
 * Where journals live. Any store passes `storeContract` of `@colloquy/runtime-test/contracts`.
 *
 * Two guards protect a journal: only the holder of the newest lease of a thread may append (its fencing token
 * is checked with each append), and beneath it each append names the `seq` that it continues.
 */
export interface Store {
  /**
   * Takes the lease of a thread, if it is free, was released, ran out, or is this owner's already; null while
   * somebody else holds it. Each lease has a greater token than any before it, also after a `delete`, and voids the
   * one before. A `ttlMs` of 0 runs out at once; a negative one, or NaN, is refused with a `RangeError`.
   */
  acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null>;
  /** Prolongs a lease from now on, also one that ran out and that nobody took. False when it was taken or released: stop performing. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Gives a lease back. Does nothing when it is no longer the newest. */
  release(lease: Lease): Promise<void>;
  /**
   * Adds entries, all or none, durable when the promise resolves, or, from a store that has nothing to wait for,
   * when it returns. `expectedSeq` is the seq of the newest entry there, -1 for none. Throws
   * `SequenceConflictError` or `LeaseLostError`, and then nothing was written.
   */
  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void>;
  /** All entries with `seq >= fromSeq`, in order, as they were stored: not yet decoded. Empty for an unknown thread. */
  read(threadId: string, fromSeq?: number): Promise<readonly unknown[]>;
  /** Threads by id, in one order of the store's choice that does not change. `after` is the last id of the page before. */
  list(options?: { readonly after?: string; readonly limit?: number }): Promise<readonly StoredThread[]>;
  /** Removes a thread, its lease, and all that was derived from it. True when there was one. */
  delete(threadId: string): Promise<boolean>;
  /** Releases what the store holds. The journals stay. May be called again. */
  close(): Promise<void>;
}

/** The right to append to one thread. */
export interface Lease {
  readonly threadId: string;
  readonly owner: string;
  /** Greater with each acquisition of the thread. */
  readonly token: number;
}

export interface StoredThread {
  readonly threadId: string;
  /** The seq of its newest entry. */
  readonly seq: number;
}

/** The journal is not where the writer thought: somebody else appended. Read again. */
export class SequenceConflictError extends Error {
  override readonly name = "SequenceConflictError";
  readonly threadId: string;
  readonly expectedSeq: number;
  readonly actualSeq: number;

  constructor(threadId: string, expectedSeq: number, actualSeq: number) {
    super(
      `thread "${threadId}": expected its newest entry to be ${expectedSeq}, found ${actualSeq}. ` +
        "Another writer appended; open the thread again.",
    );
    this.threadId = threadId;
    this.expectedSeq = expectedSeq;
    this.actualSeq = actualSeq;
  }
}

/** The lease ran out, was released, or was taken over: its holder may not append any more. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
  readonly threadId: string;

  constructor(lease: Lease) {
    super(
      `thread "${lease.threadId}": the lease of "${lease.owner}" (token ${lease.token}) is no longer in force. ` +
        "Open the thread again to acquire a new one.",
    );
    this.threadId = lease.threadId;
  }
}
