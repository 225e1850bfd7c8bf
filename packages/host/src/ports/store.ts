import type { Entry, Event, Refusal, ThreadStarted } from "@colloquy/machine";
import type { ListOptions, ThreadPage } from "./listing.ts";
import type { SearchOptions, SearchPage } from "./searching.ts";

/**
 * Where journals live. Any store passes `storeContract` of `@colloquy/runtime-test/contracts`.
 *
 * Two guards protect a journal: only the holder of the newest lease of a thread may write (its fencing token
 * is checked with each write), and beneath it each append names the `seq` that it continues.
 */
export interface Store {
  /**
   * Takes the lease of a thread, if it is free, was released, ran out, or is this owner's already; null while
   * another owner holds it. Each lease has a greater token than any before it, also after a `delete`, and voids the
   * one before. A `ttlMs` of 0 runs out at once; a negative one, or NaN, is refused with a `RangeError`.
   */
  acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null>;
  /**
   * Prolongs a lease from now on, also one that ran out and was not taken. False when it was taken or released: stop
   * performing.
   */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /**
   * Gives a lease back. Does nothing when it is no longer the newest. A host gives back only the lease of a thread in
   * which nothing is outstanding; any other it lets run out, so that `abandoned` names the thread.
   */
  release(lease: Lease): Promise<void>;
  /**
   * Returns the ids of the threads whose newest lease was not given back and is no longer in force: their holder died,
   * or left something unfinished in them. A host's recovery reads only these threads, and those with inbox items.
   */
  abandoned(): Promise<readonly string[]>;
  /**
   * Adds entries, all or none, durable when the promise resolves, or, from a store that has nothing to wait for,
   * when it returns. `expectedSeq` is the seq of the newest entry there, -1 for none. Throws
   * `SequenceConflictError` or `LeaseLostError`, and then nothing was written.
   */
  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void | Promise<void>;
  /** Reads all entries with `seq >= fromSeq`, in order, as stored: not yet decoded. None of an unknown thread. */
  read(threadId: string, fromSeq?: number): Promise<readonly unknown[]>;
  /**
   * Replaces the entries with these seqs, all or none: for redaction. Everything that was derived from the old ones
   * (the snapshot, the search index, the log of parts) is deleted with them, and their text is nowhere in the store.
   * Throws `LeaseLostError`, or a `RangeError` for a seq that does not exist; then nothing was written.
   */
  rewrite(lease: Lease, entries: readonly Entry[]): Promise<void>;
  /** Replaces the snapshot. Throws `LeaseLostError`. The remains of a failed save are gone or harmless. */
  saveSnapshot(lease: Lease, snapshot: SnapshotDraft): Promise<void>;
  /** Returns the newest snapshot; null if there is none. Its reader judges whether it is useful. */
  readSnapshot(threadId: string): Promise<StoredSnapshot | null>;
  /** Lists threads by creation, page by page. None is shown twice or skipped, whatever changes meanwhile. */
  list(options?: ListOptions): Promise<ThreadPage>;
  /** Finds messages by their words. Absent if the store has no search. */
  search?(words: string, options?: SearchOptions): Promise<SearchPage>;
  /** The inbox for the holder of a thread. Absent if the store has none: then its events are refused. */
  readonly inbox?: Inbox;
  /** The log of the shown parts of turns, for asks that rejoin elsewhere. Absent if the store has none. */
  readonly parts?: PartLog;
  /**
   * Present if the store performs the effects of its threads itself, as a durable engine does. Hosts over it ask, send
   * and read. They call neither models nor tools, and take a lease only to change a journal by hand (import, fork into,
   * redact, move, delete).
   */
  readonly engine?: Engine;
  /** How long a host leases threads here unless it is told: long where the store itself notices that a holder is gone. Absent: 30 s. */
  readonly leaseTtlMs?: number;
  /**
   * Deletes a thread, its lease, and everything that was derived from it: none of its words are in the store any more.
   * Returns true if it existed. With a lease, throws `LeaseLostError` if that is not in force, and then nothing was
   * deleted. Hosts always give their lease. Without one, whoever has the thread loses it: for deletions by hand.
   */
  delete(threadId: string, lease?: Lease): Promise<boolean>;
  /** Releases the resources of the store. The journals stay. May be called again. */
  close(): Promise<void>;
}

/** The events that hosts leave for the holder of a thread, in the order in which they came. Deleted with the thread. */
export interface Inbox {
  /**
   * Posts an inbox item, durable when the promise resolves. One whose id is already there, answered or not, is kept
   * once. The thread need not exist.
   */
  post(threadId: string, item: InboxItem): Promise<void>;
  /**
   * Returns the inbox items that are not answered, oldest first. An unreadable one does not keep the others from being
   * read: its substitute has at least its `id`, under which the holder answers it.
   */
  unanswered(threadId: string): Promise<readonly unknown[]>;
  /** Returns the ids of all threads with inbox items that are not answered: one call for all the threads of a host. */
  waiting(): Promise<readonly string[]>;
  /** Answers inbox items, and drops their events. Throws `LeaseLostError`. Unknown ids are ignored. */
  answer(lease: Lease, answers: readonly InboxAnswer[]): Promise<void>;
  /**
   * Returns the answer to an inbox item; null while there is none, and for an item that was not posted. An unreadable
   * one is returned as a refusal.
   */
  answerTo(threadId: string, itemId: string): Promise<unknown>;
  /** Deletes an inbox item, answered or not. The host that posted it does so when the answer was read. */
  discard(threadId: string, itemId: string): Promise<void>;
}

/** An event for the holder of a thread. Plain JSON. */
export interface InboxItem {
  /** Generated by the host that posts it, unique in the thread. */
  readonly id: string;
  readonly event: Event;
}

/** The outcome of an inbox item. Plain JSON. */
export type InboxAnswer =
  | { readonly id: string; readonly handled: true; readonly seq: number }
  | { readonly id: string; readonly handled: false; readonly refusal: Refusal };

/** Decides the events that are sent to threads, and performs their effects, without a host. */
export interface Engine {
  /**
   * Sends an event to the machine there, which handles it once for each id. Returns the outcome: `handled` when its
   * entry is stored. Any event may be sent; one that creates a thread may be sent to a thread that does not exist.
   * Rejects if the outcome is unknown: then it may be sent again under the same id.
   */
  send(threadId: string, id: string, event: Event | ThreadStarted): Promise<InboxAnswer>;
  /**
   * Calls `heard` with the news of a thread from here on, in order, until the returned function is called. News may be
   * lost: the next poll finds the important part in the journal. Absent: the journal is polled. Neither function
   * throws.
   */
  follow?(threadId: string, heard: (news: EngineNews) => void): () => void;
}

/**
 * News of a thread. `entries`: the journal has new entries. `part`: an `AskPart`, as JSON, was shown of a turn. Parts
 * that an entry also gives (`turn.started`, `turn.ended`, `approval.requested`, `result.requested`, signals of asks)
 * are reported when that entry is stored.
 */
export type EngineNews =
  | { readonly type: "entries" }
  | { readonly type: "part"; readonly turn: number; readonly part: unknown };

/**
 * The parts of turns as they were shown, for asks that rejoin from another process. They are kept beside the journal
 * for a limited time. If they are lost, a rejoined turn is shown from the journal. Deleted with the thread, and by a
 * `rewrite` of its entries.
 */
export interface PartLog {
  /**
   * Adds a batch after the present ones. It must survive the death of the process, but not a power cut. Afterwards
   * batches that have expired by `batch.at` are deleted, at least those of this thread. Throws `LeaseLostError`, and
   * then nothing was added.
   */
  append(lease: Lease, batch: PartBatch): Promise<void>;
  /**
   * Returns the batches of a thread that are kept at `at` (milliseconds since the epoch), in the order of their tokens,
   * and for each token of their numbers. Empty for an unknown thread. Needs no lease.
   */
  read(threadId: string, from: PartLogRange): Promise<readonly StoredPartBatch[]>;
}

/** Consecutive parts. */
export interface PartBatch {
  /** Its index among the batches of the lease, from 0, each one more than the last. */
  readonly number: number;
  readonly turn: number;
  /** Any text; the store does not interpret it. */
  readonly body: string;
  /** The host's present time, in milliseconds since the epoch. */
  readonly at: number;
  /** The time at which it expires. */
  readonly until: number;
}

/** The range of batches to read. */
export interface PartLogRange {
  readonly at: number;
  /** Reads only the batches after this one; null for all. */
  readonly after: PartBatchPlace | null;
  /** Reads only the batches of this turn. Default: of all. */
  readonly turn?: number;
}

export interface PartBatchPlace {
  /** The token of the lease under which it was added. */
  readonly token: number;
  readonly number: number;
}

/** A batch as it is in the store. */
export interface StoredPartBatch extends PartBatchPlace {
  readonly turn: number;
  readonly body: string;
}

/** A snapshot to be saved: its head, and the chunks that the store does not have yet. */
export interface SnapshotDraft {
  readonly threadId: string;
  /** The seq of the newest entry that it covers. */
  readonly seq: number;
  readonly head: string;
  /** By id. An id is never used for another text. */
  readonly chunks: ReadonlyMap<string, string>;
  /** Ids of chunks that are no longer needed. */
  readonly dropped: readonly string[];
}

/** A snapshot as it is in the store. */
export interface StoredSnapshot {
  readonly head: string;
  /** Returns the text of a chunk at once; undefined for one that does not exist. It may be read only now. */
  readonly chunk: (id: string) => string | undefined;
  /**
   * Reads one chunk, or with null all that were not read yet. Until then `chunk` returns undefined for them. Absent if
   * chunks can be read at once.
   */
  readonly fetch?: (chunk: string | null) => Promise<void>;
}

/** The right to append to one thread. */
export interface Lease {
  readonly threadId: string;
  readonly owner: string;
  /** Greater with each acquisition of the thread. */
  readonly token: number;
}

/** The journal is not where the writer thought: another writer appended. Read again. */
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
