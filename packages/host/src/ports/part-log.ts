import type { Lease } from "./store.ts";

/**
 * What was shown of turns while they went on, for those who rejoin them from another process: kept beside the journal for a
 * bounded time, and derived from nothing that is lost with it. It goes with the thread, and with a `rewrite` of its entries.
 */
export interface PartLog {
  /**
   * Adds a batch behind those that are there. It need not survive a power cut, only the death of the process. Batches whose time
   * is over by `batch.at` are gone afterwards, of this thread at least. Throws `LeaseLostError`, and then nothing was added.
   */
  append(lease: Lease, batch: PartBatch): Promise<void>;
  /**
   * The batches of a thread that are kept at `at` (milliseconds since the epoch), in the order of their tokens and in it of their
   * numbers. Empty for an unknown thread. Needs no lease.
   */
  read(threadId: string, from: PartLogRange): Promise<readonly StoredPartBatch[]>;
}

/** Parts that were shown one after the other. */
export interface PartBatch {
  /** Its place among the batches of the lease, from 0, each one more than the last. */
  readonly number: number;
  readonly turn: number;
  /** Any text; the store does not look into it. */
  readonly body: string;
  /** The present time of the host, in milliseconds since the epoch. */
  readonly at: number;
  /** When it is to be forgotten. */
  readonly until: number;
}

/** Which batches are read. */
export interface PartLogRange {
  readonly at: number;
  /** Only those behind this one; null for all. */
  readonly after: PartBatchPlace | null;
  /** Only those of this turn. Default: of all. */
  readonly turn?: number;
}

export interface PartBatchPlace {
  /** Of the lease under which it was added. */
  readonly token: number;
  readonly number: number;
}

/** A batch as it is in the store. */
export interface StoredPartBatch extends PartBatchPlace {
  readonly turn: number;
  readonly body: string;
}
