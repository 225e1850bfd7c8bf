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

/** Error of a thread that another host holds and works on. A host with nothing to do there releases the thread. */
export class ThreadHeldError extends ThreadError {
  override readonly name = "ThreadHeldError";

  constructor(threadId: string) {
    super(
      threadId,
      `thread "${threadId}" is held by another host, which works on it or does not answer. ` +
        "Ask there, or try again later; if its process died, its lease runs out by itself.",
    );
  }
}

/** Error of an unknown thread, on a call that does not create one. */
export class ThreadUnknownError extends ThreadError {
  override readonly name = "ThreadUnknownError";

  constructor(threadId: string) {
    super(threadId, `there is no thread "${threadId}". Start it, or ask something on it.`);
  }
}

/** Error of `start` for a thread that was started before. */
export class ThreadExistsError extends ThreadError {
  override readonly name = "ThreadExistsError";

  constructor(threadId: string) {
    super(threadId, `thread "${threadId}" exists already. Go on with it, or start one under another id.`);
  }
}

/**
 * Error of a thread that is no longer open here: the host was closed, or released it. Journalled work continues when
 * the thread is next opened, on the host to which it was moved, if it was. A deleted thread does not continue.
 */
export class ThreadClosedError extends ThreadError {
  override readonly name = "ThreadClosedError";

  /** @param why the reason why the thread is no longer open here */
  constructor(threadId: string, why: keyof typeof afterClosing = "closed") {
    super(threadId, `thread "${threadId}" was closed here${afterClosing[why]}`);
  }
}

const afterClosing = {
  closed: ". Ask again to continue, on a new host if this one is closed. The same askId gives an earlier outcome.",
  deleted: " to be deleted. Asking again begins a new one.",
  moved: " to be moved to another host. An ask of the same askId there has the outcome.",
} as const;

/** Error of a stored thread whose entries are not a journal that this version can read. */
export class JournalUnreadableError extends ThreadError {
  override readonly name = "JournalUnreadableError";

  constructor(threadId: string, problem: string) {
    super(threadId, `the journal of thread "${threadId}" can't be read: ${problem}`);
  }
}

/** Error of an import that is not a journal, or whose thread could not continue. Nothing was stored. */
export class ImportRefusedError extends ThreadError {
  override readonly name = "ImportRefusedError";
  /** The index of the invalid entry, or the number of the invalid turn, from 1; null if the whole is invalid. */
  readonly index: number | null;

  constructor(threadId: string, index: number | null, problem: string) {
    super(threadId, `nothing was imported as thread "${threadId}": ${problem}`);
    this.index = index;
  }
}

/** Error of a search on a store without search. */
export class SearchUnavailableError extends Error {
  override readonly name = "SearchUnavailableError";

  constructor() {
    super("the store of this host can't search; one that has `search` can, such as SQLite's or PostgreSQL's");
  }
}

/** Error of a failed store; `cause` is what it threw. Opening the thread again shows whether it wrote an entry. */
export class StoreError extends ThreadError {
  override readonly name = "StoreError";

  constructor(threadId: string, doing: string, cause: unknown) {
    super(threadId, `thread "${threadId}": the store failed to ${doing}: ${messageOf(cause)}`, { cause });
  }
}

/**
 * Error of a store that did not answer in time: the `cause` of a `StoreError`. The call may have been executed, or may
 * be later. The thread is released, and read again when it is next used.
 */
export class StoreTimeoutError extends Error {
  override readonly name = "StoreTimeoutError";
  /** The store's method, such as `append`. */
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

/** Error of an event that changed nothing. `refusal` says why. */
export class EventRefusedError extends ThreadError {
  override readonly name: string = "EventRefusedError";
  readonly refusal: Refusal;

  constructor(threadId: string, refusal: Refusal) {
    super(threadId, `thread "${threadId}": ${refusal.kind}: ${refusal.reason}`);
    this.refusal = refusal;
  }
}

/** Error of an ask that was not accepted: `busy`, `full`, `invalid`. Nothing was journalled. */
export class AskRefusedError extends EventRefusedError {
  override readonly name = "AskRefusedError";
  readonly askId: string;

  constructor(threadId: string, askId: string, refusal: Refusal) {
    super(threadId, refusal);
    this.askId = askId;
  }
}
