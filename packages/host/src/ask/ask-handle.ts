import type { AskPart } from "./parts.ts";
import type { AskResult } from "./result.ts";

/**
 * An ask that is under way. Awaiting it gives its result, or rejects: with `TurnFailedError`,
 * `LimitReachedError`, `ContextUnfitError`, `TurnCancelledError`, `AskSupersededError`, `AskReturnedError`,
 * `OutputError`, `AskRefusedError`, or the reason why the thread could not be used. An ask that is never awaited causes no unhandled rejection.
 *
 * Iterating it gives the parts as they come, from the beginning, also when the reading starts late; all readers
 * of one handle share them. The answer does not wait for a reader, and breaking off does not cancel. The parts end
 * with `turn.ended`, whatever the status; where no turn could be had, reading throws what awaiting rejects with.
 *
 * If another host holds the thread, that one answers, and this one follows the journal. The handle has the same outcome, and
 * shows what the journal has: signals about its ask, whole texts, calls and their results, and what the turn waits for. Deltas
 * are shown as they come only if hosts keep a log of them (`partsMs`). If this host takes the thread over, all is shown from
 * there on.
 */
export interface AskHandle<Output = undefined, Written = Output>
  extends PromiseLike<AskResult<Output>>, AsyncIterable<AskPart<Written>> {
  /** Another one from the part `thread.forked` on. */
  readonly threadId: string;
  readonly askId: string;
  /**
   * The place behind the part that was read last, for `thread.rejoin(askId, { from })`, here or in another process; null before
   * a part of a turn was read.
   */
  readonly cursor: string | null;
  /** Cancels the turn, or withdraws the ask where it still waits. What had been shown is kept. Does nothing after the end. */
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<AskResult<Output> | Caught>;
  finally(onSettled: () => void): Promise<AskResult<Output>>;
}
