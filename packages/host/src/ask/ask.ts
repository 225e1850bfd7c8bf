import type { Refusal, State, Turn } from "@colloquy/machine";
import { turnNumbered } from "@colloquy/machine";
import { AskRefusedError } from "../errors.ts";
import { messageOf } from "../thrown.ts";
import type { Receipt } from "../thread/mail.ts";
import type { ToolContext } from "../tools/tool.ts";
import { PartQueue } from "./part-queue.ts";
import type { AskPart } from "./parts.ts";
import type { AskResult } from "./result.ts";
import { resultOf, withdrawn } from "./result.ts";
import { TurnCancelledError } from "./turn-errors.ts";

/**
 * An ask that is under way. Awaiting it gives its result, or rejects with what there is instead: `TurnFailedError`,
 * `LimitReachedError`, `ContextUnfitError`, `TurnCancelledError`, `AskRefusedError`, or why the thread could not be used. One that
 * nobody awaits rejects nothing.
 *
 * Iterating it gives the parts as they come, from the beginning, also when the reading starts late; all readers
 * of one handle share them. The answer does not wait for a reader, and breaking off does not cancel. The parts end
 * with `turn.ended`, whatever the status; where no turn could be had, reading throws what awaiting rejects with.
 */
export interface AskHandle extends PromiseLike<AskResult>, AsyncIterable<AskPart> {
  readonly threadId: string;
  readonly askId: string;
  /** Cancels the turn, or withdraws the ask where it still waits. What had been shown is kept. Does nothing after the end. */
  abort(reason?: string): void;
  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<AskResult | Caught>;
  finally(onSettled: () => void): Promise<AskResult>;
}

/** Stops an ask: true when it had not been looked at, so that nothing of it is journalled. */
export type StopAsk = (ask: Ask, reason: string | undefined) => boolean;

/** An ask on its way through a thread's loop, and the handle to it. */
export class Ask implements AskHandle, Receipt {
  readonly threadId: string;
  readonly askId: string;
  readonly toolContext: ToolContext | undefined;
  /** The turn that answers it, once there is one. */
  turn: number | null = null;
  readonly #parts = new PartQueue();
  readonly #stop: StopAsk;
  #signal: AbortSignal | null = null;
  /** Why it was aborted here. */
  #reason: string | null = null;
  #outcome: AskResult | Error | null = null;
  #promise: PromiseWithResolvers<AskResult> | null = null;
  #onSettled: ((ask: Ask) => void) | null = null;

  constructor(threadId: string, askId: string, toolContext: ToolContext | undefined, stop: StopAsk) {
    this.threadId = threadId;
    this.askId = askId;
    this.toolContext = toolContext;
    this.#stop = stop;
  }

  get settled(): boolean {
    return this.#outcome !== null;
  }

  /** Called once, when it is settled. */
  whenSettled(callback: (ask: Ask) => void): void {
    this.#onSettled = callback;
  }

  /** Cancels it when the signal says so, until it is settled. */
  listenTo(signal: AbortSignal): void {
    this.#signal = signal;
    if (signal.aborted) {
      this.#reason = messageOf(signal.reason);
      this.withdraw();
      return;
    }
    signal.addEventListener("abort", this.#onAbort);
  }

  abort(reason?: string): void {
    if (this.settled) return;
    this.#reason = reason ?? null;
    if (this.#stop(this, reason)) this.withdraw();
  }

  /** No turn will be opened for it. */
  withdraw(): void {
    const summary = withdrawn(this.threadId, this.askId);
    this.fail(new TurnCancelledError(summary, this.#reason, this.#cause()));
  }

  accepted(): void {}

  /** A repeated ask waits for the turn that answers it, or has its outcome at once. */
  refused(refusal: Refusal, state: State): void {
    if (refusal.kind === "stale") {
      if (refusal.turn !== undefined) this.turn = refusal.turn;
      const turn = refusal.turn === undefined ? undefined : turnNumbered(state, refusal.turn);
      if (turn !== undefined) return this.ended(turn);
      if (refusal.turn !== undefined || state.context.queue.some(({ askId }) => askId === this.askId)) return;
    }
    this.fail(new AskRefusedError(this.threadId, this.askId, refusal));
  }

  failed(error: Error): void {
    this.fail(error);
  }

  push(part: AskPart): void {
    this.#parts.push(part);
  }

  /** Its turn was closed. */
  ended(turn: Turn): void {
    this.#parts.push({ type: "turn.ended", turn: turn.number, status: turn.outcome.status });
    this.#settle(resultOf(this.threadId, this.askId, turn, this.#cause()), null);
  }

  /** There will be no turn for it, or none that is known here. */
  fail(error: Error): void {
    this.#settle(error, error);
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting the handle is how its result is had
  then<Kept = AskResult, Caught = never>(
    onFulfilled?: ((result: AskResult) => Kept | PromiseLike<Kept>) | null,
    onRejected?: ((error: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Kept | Caught> {
    return this.#settlement().then(onFulfilled, onRejected);
  }

  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<AskResult | Caught> {
    return this.#settlement().catch(onRejected);
  }

  finally(onSettled: () => void): Promise<AskResult> {
    return this.#settlement().finally(onSettled);
  }

  [Symbol.asyncIterator](): AsyncIterator<AskPart, undefined> {
    return { next: () => this.#parts.next() };
  }

  /** Made when somebody first wants it: a rejection that nobody waits for then rejects nothing. */
  #settlement(): Promise<AskResult> {
    this.#promise ??= Promise.withResolvers();
    this.#deliver();
    return this.#promise.promise;
  }

  #settle(outcome: AskResult | Error, unread: Error | null): void {
    if (this.settled) return;
    this.#outcome = outcome;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#parts.end(unread);
    this.#deliver();
    this.#onSettled?.(this);
  }

  #deliver(): void {
    if (this.#outcome instanceof Error) this.#promise?.reject(this.#outcome);
    else if (this.#outcome !== null) this.#promise?.resolve(this.#outcome);
  }

  #cause(): { readonly cause: unknown } | undefined {
    return this.#signal?.aborted === true ? { cause: this.#signal.reason } : undefined;
  }

  readonly #onAbort = (): void => {
    this.abort(messageOf(this.#signal?.reason));
  };
}
