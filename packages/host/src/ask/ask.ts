import type { AskReceived, Refusal, State, Turn } from "@colloquy/machine";
import { askNamed, turnNumbered } from "@colloquy/machine";
import { askedOtherwise, isSameInput, refusalOfRepeat } from "@colloquy/machine/hosting";
import type { CodeWaits } from "../activity/code-waits.ts";
import { AskRefusedError } from "../boundary/errors.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { Sender } from "../mailbox/mailbox.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { AskHandle } from "./ask-handle.ts";
import type { AskWatcher, StopAsk } from "./ask-watcher.ts";
import { deliver, type OwnOutput } from "./delivery.ts";
import type { PartPlace } from "./part-place.ts";
import { PartQueue } from "./part-queue.ts";
import { type AskPart, partsAwaited } from "./parts.ts";
import { type AskResult, resultOf, summaryWithoutTurn } from "./result.ts";
import { Settlement } from "./settlement.ts";
import { AskReturnedError, AskSupersededError, TurnCancelledError } from "./turn-errors.ts";

/** An ask on its way through a thread's loop, and the handle to it. */
export class Ask implements AskHandle, Sender {
  threadId: string;
  readonly askId: string;
  readonly toolContext: ToolContext | undefined;
  /** What is asked; null before the ask was sent, and for a handle that only looks up an earlier ask. */
  event: AskReceived | null = null;
  /** What its answer has to be, and what validates it; null where any will do, and for a handle that only looks up an earlier ask. */
  output: OwnOutput | null = null;
  /** The id of the inbox item by which it was passed to another host; null where there is none. */
  inboxId: string | null = null;
  /** Finds it another thread where this one is busy; null where it is refused then. */
  whenBusy: (() => void) | null = null;
  #turn: number | null = null;
  readonly #parts = new PartQueue();
  readonly #stop: StopAsk<Ask>;
  readonly #waits: CodeWaits | null;
  #signal: AbortSignal | null = null;
  /** Why it was aborted here. */
  #reason: string | null = null;
  readonly #outcome = new Settlement();
  #watcher: AskWatcher<Ask> | null = null;
  #carried = 0;
  /** Whether it says what the first ask of its id said. */
  #isChecked = false;

  /** @param waits keeps track of the threads whose code waits for it; null where that does not matter. */
  constructor(
    threadId: string,
    askId: string,
    toolContext: ToolContext | undefined,
    stop: StopAsk<Ask>,
    waits: CodeWaits | null = null,
  ) {
    this.threadId = threadId;
    this.askId = askId;
    this.toolContext = toolContext;
    this.#stop = stop;
    this.#waits = waits;
  }

  get settled(): boolean {
    return this.#outcome.isThere;
  }

  /** The turn that answers it, or that it waits to join; null before there is one. */
  get turn(): number | null {
    return this.#turn;
  }

  /** Sets the watcher that is notified from here on; null for none. */
  watch(watcher: AskWatcher<Ask> | null): void {
    this.#watcher = watcher;
  }

  /** It has a turn. */
  join(turn: number): void {
    if (this.settled || this.#turn === turn) return;
    this.#turn = turn;
    this.#watcher?.joined(this, turn);
  }

  /** Cancels it when the signal says so, until it is settled. */
  listenTo(signal: AbortSignal): void {
    this.#signal = signal;
    if (!signal.aborted) return signal.addEventListener("abort", this.#onAbort);
    this.#reason = messageOf(signal.reason);
    this.withdraw();
  }

  abort(reason?: string): void {
    if (this.settled) return;
    this.#reason = reason ?? null;
    if (this.#stop(this, reason)) this.withdraw();
  }

  /** It waited, and another took its place: which one, where that is known. */
  superseded(by: string | null): void {
    this.fail(new AskSupersededError(summaryWithoutTurn(this.threadId, this.askId), by));
  }

  /** It joined a turn that ended before it could be shown: which one, where that is known. */
  returned(turn: number | null): void {
    this.fail(new AskReturnedError(summaryWithoutTurn(this.threadId, this.askId), turn));
  }

  /** No turn will be opened for it. */
  withdraw(): void {
    this.fail(new TurnCancelledError(summaryWithoutTurn(this.threadId, this.askId), this.#reason, this.#cause()));
  }

  /** It is no longer an ask of its thread, and goes on in another one. */
  moveTo(threadId: string): void {
    this.#watcher?.settled(this);
    this.#watcher = null;
    this.#isChecked = false;
    this.event = null;
    this.inboxId = null;
    this.whenBusy = null;
    this.threadId = threadId;
    this.goesOn();
  }

  /** The store lost the entry that accepted it, so what was shown of its turn is void. False when that happened too often. */
  lost(): boolean {
    if (this.#turn !== null) this.push({ type: "thread.lost", turn: this.#turn });
    this.#watcher?.left(this);
    this.#turn = null;
    this.#isChecked = false;
    return ++this.#carried <= carriedMost;
  }

  /** Its loop has ended for a reason of its own, and the ask goes on in the next one. False when that happened too often. */
  carryOver(): boolean {
    this.#watcher = null;
    this.#isChecked = false;
    const mayGoOn = ++this.#carried <= carriedMost;
    if (mayGoOn && this.#turn !== null) this.push({ type: "thread.lost", turn: this.#turn });
    return mayGoOn;
  }

  accepted(): void {}

  /** A repeated ask waits for the turn that answers it, or has its outcome at once. */
  refused(refusal: Refusal, state: State | null): void {
    if (refusal.kind === "stale") {
      if (state !== null && this.isKnownTo(state)) return;
      if (refusal.turn !== undefined) return this.join(refusal.turn);
    }
    if (refusal.kind === "busy" && this.whenBusy !== null) this.whenBusy();
    else this.fail(new AskRefusedError(this.threadId, this.askId, refusal));
  }

  /** It is refused where it says something else than the ask that came first under its id. */
  checkFirst(first: AskReceived): void {
    this.#isChecked = true;
    if (this.event !== null && !isSameInput(first, this.event))
      this.fail(new AskRefusedError(this.threadId, this.askId, askedOtherwise(this.askId)));
  }

  /** Whether what becomes of the asks of its id concerns it. One that was not taken yet may say something else: it is refused. */
  isConcerned(state: State): boolean {
    if (!this.#isChecked) this.#checkWith(state);
    return !this.settled;
  }

  #checkWith(state: State): void {
    this.#isChecked = true;
    const other = this.event === null ? null : refusalOfRepeat(state, this.event);
    if (other !== null) this.fail(new AskRefusedError(this.threadId, this.askId, other));
  }

  /** Whether the thread knows it from before; then it waits for what comes of it, or has it at once. */
  isKnownTo(state: State): boolean {
    const known = askNamed(state, this.askId);
    if (known !== null) this.#checkWith(state);
    if (this.settled) return true;
    if (known === null) return false;
    const { status, turn: number } = known;
    const turn = known.outcome === undefined ? undefined : turnNumbered(state, number ?? 0);
    if (turn !== undefined) this.ended(turn);
    else if (number !== null) this.#joinUnderWay(number, state);
    else if (status === "withdrawn") this.withdraw();
    else if (status === "superseded") this.superseded(null);
    else if (status === "returned") this.returned(null);
    return status !== "left";
  }

  /** The turn that is open may be its own, and is taken up now: what it waits for is shown then. */
  joinOpenTurn({ context: { open } }: State): void {
    if (open?.asks.some(({ askId }) => askId === this.askId) === true) this.join(open.number);
  }

  /** Its turn is under way already, and may wait for approvals. */
  #joinUnderWay(turn: number, state: State): void {
    if (this.settled || this.#turn === turn) return;
    this.join(turn);
    for (const part of partsAwaited(state)) this.push(part);
  }

  /** The loop that ends fails its asks, or has them carried over. */
  failed(): void {}

  get cursor(): string | null {
    return this.#parts.cursor;
  }

  /** Shows a part: of its turn, with its place there, or for this ask alone. */
  push(part: AskPart, place: PartPlace | null = null): void {
    this.#parts.push(part, place);
  }

  /** Another host has the thread, until then if it is dead. */
  waits(until: number): void {
    if (!this.settled) this.#parts.beginWait(until);
  }

  /** Whatever it waited for has come. */
  goesOn(): void {
    this.#parts.endWait();
  }

  /** Whether the thread has to be kept open for it. */
  get isWaitedFor(): boolean {
    return true;
  }

  /** Called when its loop has ended. True where it needs no loop before code waits for it, and then finds one itself. */
  detach(): boolean {
    return false;
  }

  /** Code waits for it. */
  protected awaited(): void {
    if (!this.settled) this.#waits?.begin();
  }

  /** Its turn was closed. @param place that of the part that says so */
  ended(turn: Turn, place: PartPlace | null = null): void {
    // Before anything is shown: where the turn can't be read yet, this is done again.
    const result = resultOf(this.threadId, this.askId, turn, this.#cause());
    deliver(result, turn, this.output, (outcome) => {
      this.#parts.push({ type: "turn.ended", turn: turn.number, status: turn.outcome.status }, place);
      this.#settle(outcome, null);
    });
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
    return this.#parts.iterator(() => this.awaited());
  }

  #settlement(): Promise<AskResult> {
    this.awaited();
    return this.#outcome.promise;
  }

  #settle(outcome: AskResult | Error, unread: Error | null): void {
    if (this.settled) return;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#waits?.end();
    this.#parts.end(unread);
    this.#outcome.settle(outcome);
    this.#watcher?.settled(this);
  }

  #cause(): { readonly cause: unknown } | undefined {
    return this.#signal?.aborted === true ? { cause: this.#signal.reason } : undefined;
  }

  readonly #onAbort = (): void => {
    this.abort(messageOf(this.#signal?.reason));
  };
}

/** How often an ask survives a lost lease, or a store that lost its entry. After that it fails: a fault that often is no accident. */
const carriedMost = 16;
