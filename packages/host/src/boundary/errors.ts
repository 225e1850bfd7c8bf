import type { Refusal } from "@colloquy/machine";
import { messageOf } from "./thrown.ts";

/** An error about one thread. */
class ThreadError extends Error {
  readonly threadId: string;

  constructor(threadId: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.threadId = threadId;
  }
}

/** Another host holds the thread's lease. */
export class ThreadHeldError extends ThreadError {
  override readonly name = "ThreadHeldError";

  constructor(threadId: string) {
    super(
      threadId,
      `thread "${threadId}" is held by another host. Ask there, or try again when it is idle or closed; ` +
        "if its process died, its lease runs out by itself.",
    );
  }
}

/** There is no such thread, and what was asked for does not make one. */
export class ThreadUnknownError extends ThreadError {
  override readonly name = "ThreadUnknownError";

  constructor(threadId: string) {
    super(threadId, `there is no thread "${threadId}". Start it, or ask something on it.`);
  }
}

/** `start` for a thread that was started before. */
export class ThreadExistsError extends ThreadError {
  override readonly name = "ThreadExistsError";

  constructor(threadId: string) {
    super(threadId, `thread "${threadId}" exists already. Go on with it, or start one under another id.`);
  }
}

/** The host was closed, or let go of the thread. What was journalled goes on when the thread is next opened, unless it was deleted; where it was moved to, if it was. */
export class ThreadClosedError extends ThreadError {
  override readonly name = "ThreadClosedError";

  /** @param why the thread is no longer open here. */
  constructor(threadId: string, why: keyof typeof afterClosing = "closed") {
    super(threadId, `thread "${threadId}" was closed here${afterClosing[why]}`);
  }
}

const afterClosing = {
  closed: ". An ask of the same askId, after opening it again, has the outcome.",
  deleted: " to be deleted. Asking again begins a new one.",
  moved: " to be moved to another host. An ask of the same askId there has the outcome.",
} as const;

/** What the store holds of a thread is no journal that this version can read. */
export class JournalUnreadableError extends ThreadError {
  override readonly name = "JournalUnreadableError";

  constructor(threadId: string, problem: string) {
    super(threadId, `the journal of thread "${threadId}" can't be read: ${problem}`);
  }
}

/** What was to be imported is no journal, or none of a thread that could go on. Nothing was stored. */
export class ImportRefusedError extends ThreadError {
  override readonly name = "ImportRefusedError";
  /** The entry, or the turn from 1, that is invalid; null where the whole is. */
  readonly index: number | null;

  constructor(threadId: string, index: number | null, problem: string) {
    super(threadId, `nothing was imported as thread "${threadId}": ${problem}`);
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
export class StoreError extends ThreadError {
  override readonly name = "StoreError";

  constructor(threadId: string, doing: string, cause: unknown) {
    super(threadId, `thread "${threadId}": the store failed to ${doing}: ${messageOf(cause)}`, { cause });
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
      `${call} was not answered within ${timeoutMs} ms, and it is not known whether it was done, or will be. ` +
        "Look at the store; storeTimeoutMs of the host says how long it may take.",
    );
    this.call = call;
    this.timeoutMs = timeoutMs;
  }
}

/** An event changed nothing; `refusal` says why. */
export class EventRefusedError extends ThreadError {
  override readonly name: string = "EventRefusedError";
  readonly refusal: Refusal;

  constructor(threadId: string, refusal: Refusal) {
    super(threadId, `thread "${threadId}": ${refusal.kind}: ${refusal.reason}`);
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
