import type { Refusal } from "@colloquy/machine";
import { messageOf } from "./thrown.ts";

/** Somebody else holds the thread's lease. */
export class ThreadHeldError extends Error {
  override readonly name = "ThreadHeldError";
  readonly threadId: string;

  constructor(threadId: string) {
    super(
      `thread "${threadId}" is held by another host. Ask there, or try again when it is idle or closed; ` +
        "if its process died, its lease runs out by itself.",
    );
    this.threadId = threadId;
  }
}

/** There is no such thread, and what was asked for does not make one. */
export class ThreadUnknownError extends Error {
  override readonly name = "ThreadUnknownError";
  readonly threadId: string;

  constructor(threadId: string) {
    super(`there is no thread "${threadId}". Start it, or ask something on it.`);
    this.threadId = threadId;
  }
}

/** `start` for a thread that was started before. */
export class ThreadExistsError extends Error {
  override readonly name = "ThreadExistsError";
  readonly threadId: string;

  constructor(threadId: string) {
    super(`thread "${threadId}" exists already. Go on with it, or start one under another id.`);
    this.threadId = threadId;
  }
}

/** The host, or its hold on the thread, was closed. What was journalled goes on when the thread is next opened, unless it was deleted. */
export class ThreadClosedError extends Error {
  override readonly name = "ThreadClosedError";
  readonly threadId: string;

  /** @param why the thread is no longer open here. */
  constructor(threadId: string, why: "closed" | "deleted" = "closed") {
    super(
      why === "closed"
        ? `thread "${threadId}" was closed here. An ask of the same askId, after opening it again, has the outcome.`
        : `thread "${threadId}" was closed here to be deleted. Asking again begins a new one.`,
    );
    this.threadId = threadId;
  }
}

/** What the store holds of a thread is no journal that this version can read. */
export class JournalUnreadableError extends Error {
  override readonly name = "JournalUnreadableError";
  readonly threadId: string;

  constructor(threadId: string, problem: string) {
    super(`the journal of thread "${threadId}" can't be read: ${problem}`);
    this.threadId = threadId;
  }
}

/** What was to be imported is no journal, or none of a thread that could go on. Nothing was stored. */
export class ImportRefusedError extends Error {
  override readonly name = "ImportRefusedError";
  readonly threadId: string;
  /** The entry, or the turn from 1, that can't be meant; null where it is the whole. */
  readonly index: number | null;

  constructor(threadId: string, index: number | null, problem: string) {
    super(`nothing was imported as thread "${threadId}": ${problem}`);
    this.threadId = threadId;
    this.index = index;
  }
}

/** The store has no search. */
export class SearchUnavailableError extends Error {
  override readonly name = "SearchUnavailableError";

  constructor() {
    super("the store of this host can't search; one that has `search` can, such as SQLite's or PostgreSQL's");
  }
}

/** The store failed. `cause` is what it threw. Whether an entry was written is not known; opening the thread again shows. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly threadId: string;

  constructor(threadId: string, doing: string, cause: unknown) {
    super(`thread "${threadId}": the store failed to ${doing}: ${messageOf(cause)}`, { cause });
    this.threadId = threadId;
  }
}

/**
 * The store did not answer in time: the `cause` of a `StoreError`. What it was to do may have been done, or be done later;
 * the thread is let go, and read anew when it is next used.
 */
export class StoreTimeoutError extends Error {
  override readonly name = "StoreTimeoutError";
  /** What it was called for, such as `append`. */
  readonly call: string;
  readonly timeoutMs: number;

  constructor(call: string, timeoutMs: number) {
    super(
      `${call} was not answered within ${timeoutMs} ms, and nobody knows whether it was done, or will be. ` +
        "Look at the store; storeTimeoutMs of the host says how long it may take.",
    );
    this.call = call;
    this.timeoutMs = timeoutMs;
  }
}

/** An event changed nothing; `refusal` says why. */
export class EventRefusedError extends Error {
  override readonly name: string = "EventRefusedError";
  readonly threadId: string;
  readonly refusal: Refusal;

  constructor(threadId: string, refusal: Refusal) {
    super(`thread "${threadId}": ${refusal.kind}: ${refusal.reason}`);
    this.threadId = threadId;
    this.refusal = refusal;
  }
}

/** An ask was not taken: `busy`, `full`, `invalid`; nothing was journalled. */
export class AskRefusedError extends EventRefusedError {
  override readonly name = "AskRefusedError";
  readonly askId: string;

  constructor(threadId: string, askId: string, refusal: Refusal) {
    super(threadId, refusal);
    this.askId = askId;
  }
}
