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
  /** Prolongs a lease from now on, also one that ran out and was not taken. False when it was taken or released: stop performing. */
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
  /**
   * Puts entries in the place of those that stand at their seqs, all or none: for redaction. What was derived from the
   * old ones (the snapshot, what the search found them by, the log of parts) is gone with them, and their text is nowhere in the store.
   * Throws `LeaseLostError`, or a `RangeError` for a seq that is not there; then nothing was written.
   */
  rewrite(lease: Lease, entries: readonly Entry[]): Promise<void>;
  /** Keeps a snapshot in the place of the one before. Throws `LeaseLostError`. What it wrote of one that failed is gone or harmless. */
  saveSnapshot(lease: Lease, snapshot: SnapshotDraft): Promise<void>;
  /** The newest snapshot; null for none. Its reader judges whether it is of use. */
  readSnapshot(threadId: string): Promise<StoredSnapshot | null>;
  /** Threads in the order of their making, page by page: none is shown twice or passed over, whatever is added or changed meanwhile. */
  list(options?: ListOptions): Promise<ThreadPage>;
  /** Messages by their words. Absent where the store can't. */
  search?(words: string, options?: SearchOptions): Promise<SearchPage>;
  /** Where hosts that don't hold a thread leave events for it. Absent where the store can't: then they are refused. */
  readonly inbox?: Inbox;
  /** What was shown of turns, for those who rejoin them elsewhere. Absent where the store can't. */
  readonly parts?: PartLog;
  /**
   * Present where the effects of its threads are performed behind it, as by a durable engine. Hosts over it ask, send and read:
   * they call neither models nor tools, and take a lease only to change a journal by hand (import, fork into, redact, move, delete).
   */
  readonly engine?: Engine;
  /** How long a host leases threads here unless it is told: long where the store itself notices that a holder is gone. Absent: 30 s. */
  readonly leaseTtlMs?: number;
  /** Removes a thread, its lease, and all that was derived from it: nothing that was said is in the store any more. True when there was one. */
  delete(threadId: string): Promise<boolean>;
  /** Releases what the store holds. The journals stay. May be called again. */
  close(): Promise<void>;
}

/** Events that hosts leave for the holder of a thread, in the order in which they came. Goes with the thread. */
export interface Inbox {
  /** Leaves an inbox item, durable when the promise resolves. One with an id that is there already, answered or not, is kept once. Needs no thread to be there. */
  post(threadId: string, item: InboxItem): Promise<void>;
  /**
   * Inbox items that are not answered, oldest first. One that can't be read any more does not keep the others from being read:
   * what is given in its place has at least its `id`, under which the holder answers it.
   */
  unanswered(threadId: string): Promise<readonly unknown[]>;
  /** Answers inbox items, which are unanswered no more; their events are dropped. Throws `LeaseLostError`. Ids that are not there are passed over. */
  answer(lease: Lease, answers: readonly InboxAnswer[]): Promise<void>;
  /** The answer to an inbox item; null while there is none, and for an inbox item that was not left. One that can't be read is given as a refusal. */
  answerTo(threadId: string, itemId: string): Promise<unknown>;
  /** Forgets an inbox item, answered or not. The host that left it does so when the answer was read. */
  discard(threadId: string, itemId: string): Promise<void>;
}

/** Something for the holder of a thread. Plain JSON. */
export interface InboxItem {
  /** Drawn by the host that leaves it, unique in the thread. */
  readonly id: string;
  readonly event: Event;
}

/** What became of an inbox item. Plain JSON. */
export type InboxAnswer =
  | { readonly id: string; readonly handled: true; readonly seq: number }
  | { readonly id: string; readonly handled: false; readonly refusal: Refusal };

/** Decides what is sent to threads, and performs what follows, without a host. */
export interface Engine {
  /**
   * Has the machine there handle an event, once for each id, and gives what became of it: `handled` when its entry is stored. Any
   * event may be sent, and one that makes a thread to a thread that is not there. Rejects where it is not known what became of it:
   * then it may be sent again under the same id.
   */
  send(threadId: string, id: string, event: Event | ThreadStarted): Promise<InboxAnswer>;
  /**
   * Calls `heard` with what comes of a thread from here on, in order, until the returned function is called. News may get lost:
   * the journal has what matters of them at the next poll. Absent: it is polled. Neither function throws.
   */
  follow?(threadId: string, heard: (news: EngineNews) => void): () => void;
}

/**
 * `entries`: the journal goes on. `part`: an `AskPart`, as JSON, was shown of a turn. What an entry says too (`turn.started`,
 * `turn.ended`, `approval.requested`, `result.requested`, signals of asks) is heard when that entry is stored.
 */
export type EngineNews =
  | { readonly type: "entries" }
  | { readonly type: "part"; readonly turn: number; readonly part: unknown };

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

/** A snapshot to be kept: its head, and those of its chunks that the store does not have yet. */
export interface SnapshotDraft {
  readonly threadId: string;
  /** The seq of the newest entry that it covers. */
  readonly seq: number;
  readonly head: string;
  /** By id. An id is never used for another text. */
  readonly chunks: ReadonlyMap<string, string>;
  /** Ids of chunks that are of no use any more. */
  readonly dropped: readonly string[];
}

/** A snapshot as it is in the store. */
export interface StoredSnapshot {
  readonly head: string;
  /** The text of a chunk, at once; undefined for one that is not there. May read it only now. */
  readonly chunk: (id: string) => string | undefined;
  /**
   * Where chunks can't be read at once: reads one of them, or with null all that were not read yet; until then `chunk`
   * gives undefined for them.
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
