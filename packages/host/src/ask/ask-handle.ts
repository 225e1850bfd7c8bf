import type { AskPart } from "../turn-log/parts.ts";
import type { AskResult } from "./result.ts";

/**
 * An ask in progress. Awaiting it gives its result, or rejects: with `TurnFailedError`, `LimitReachedError`,
 * `ContextUnfitError`, `TurnCancelledError`, `AskSupersededError`, `AskReturnedError`, `OutputError`,
 * `AskRefusedError`, or the reason why the thread could not be used. An ask that is never awaited causes no unhandled
 * rejection.
 *
 * Iterating it gives the parts as they arrive, from the beginning, even if reading starts late. All readers of one
 * handle share the parts. The answer does not wait for a reader, and breaking off the loop does not cancel the ask. The
 * parts end with `turn.ended`, whatever the status. If no turn was opened, reading throws the error with which awaiting
 * rejects.
 *
 * If another host holds the thread, that host answers, and this one follows the journal. The handle has the same
 * outcome, and shows what the journal has: signals about its ask, whole texts, calls and their results, and the
 * requests that the turn waits for. Deltas are shown as they arrive only if hosts keep a log of them (`partsMs`). If
 * this host takes the thread over, everything is shown from then on.
 */
export interface AskHandle<Output = undefined, Written = Output>
  extends PromiseLike<AskResult<Output>>, AsyncIterable<AskPart<Written>> {
  /** The thread of the ask. It changes with the part `thread.forked`. */
  readonly threadId: string;
  readonly askId: string;
  /**
   * The place after the part that was read last, for `thread.rejoin(askId, { from })`, here or in another process. Null
   * before a part of a turn was read.
   */
  readonly cursor: string | null;
  /**
   * Cancels the turn, or withdraws the ask if it still waits. Content that was already shown is kept. Does nothing
   * after the end.
   */
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<AskResult<Output> | Caught>;
  finally(onSettled: () => void): Promise<AskResult<Output>>;
}
