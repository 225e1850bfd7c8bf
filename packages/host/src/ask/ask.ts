import {
  type AskReceived,
  type CancelRequested,
  type Refusal,
  type State,
  type Turn,
  askNamed,
  turnNumbered,
} from "@colloquy/machine";
import { refusalOfRepeat } from "@colloquy/machine/hosting";
import { AskRefusedError } from "../boundary/errors.ts";
import { messageOf } from "../boundary/thrown.ts";
import type { Sender } from "../mailbox/mailbox.ts";
import type { ToolContext } from "../tools/tool.ts";
import { cursorAt, HandleCursor } from "../turn-log/cursor.ts";
import { type AskPart, partsAwaited } from "../turn-log/parts.ts";
import type { AskHandle } from "./ask-handle.ts";
import { type AskResult, resultOf, summaryWithoutTurn, type CompletedTurn } from "./result.ts";
import { AskReturnedError, AskSupersededError, TurnCancelledError, OutputError } from "./turn-errors.ts";
import { redactedText } from "@colloquy/machine/storage";
import { type Checked, checkText, checkValue } from "../output/check.ts";
import type { WantedOutput } from "../output/expected.ts";
import type { Clock } from "../ports/clock.ts";

/** An ask on its way through a thread's loop, and the handle to it. */
export class Ask implements AskHandle, Sender {
  threadId: string;
  readonly askId: string;
  readonly toolContext: ToolContext | undefined;
  /** The event of the ask; null before it was sent, and for a handle that only looks up an earlier ask. */
  event: AskReceived | null = null;
  /** The output that the answer must have. Null if any will do, and for a look-up of an earlier ask. */
  output: OwnOutput | null = null;
  /** The id of the inbox item by which it was passed to another host; null if there is none. */
  inboxId: string | null = null;
  /** The event that cancels the ask, from when it was aborted. The next loop sends it again: the last one may have lost it. */
  cancel: CancelRequested | null = null;
  /** Finds another thread for the ask if this one is busy; null if the ask is refused then. */
  whenBusy: (() => void) | null = null;
  /** Whether the event needs no copy and no check. */
  isRead = false;
  /** The turn that answers the ask, or that it waits to join; null before there is one. */
  turn: number | null = null;
  /** Whether it is shown only what happens in its turn from where it joined. */
  isUnderWay = false;
  /** The values that the handle shows. */
  readonly parts: HandleCursor;
  readonly #stop: StopAsk<Ask>;
  #signal: AbortSignal | null = null;
  #reason: string | null = null;
  #outcome: AskResult | Error | null = null;
  /** Made when the ask is first awaited, so that one that is never awaited causes no unhandled rejection. */
  #awaiting: PromiseWithResolvers<AskResult> | null = null;
  watcher: AskWatcher<Ask> | null = null;
  #carried = 0;
  /** Whether the ask was compared with the first ask of its id. */
  #isChecked = false;

  constructor(
    threadId: string,
    askId: string,
    toolContext: ToolContext | undefined,
    stop: StopAsk<Ask>,
    parts: HandleCursor = new HandleCursor(),
  ) {
    this.parts = parts;
    this.threadId = threadId;
    this.askId = askId;
    this.toolContext = toolContext;
    this.#stop = stop;
  }

  get settled(): boolean {
    return this.#outcome !== null;
  }

  /** Whether an earlier loop had the ask, which may have journalled it. */
  get isCarried(): boolean {
    return this.#carried > 0;
  }

  /** Gives the ask its turn. @param isUnderWay whether it is shown only what happens in the turn from here on */
  join(turn: number, isUnderWay = true): void {
    if (this.settled || this.turn === turn) return;
    this.turn = turn;
    this.isUnderWay = isUnderWay;
    this.watcher?.joined(this);
  }

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

  /** Fails the ask: it waited, and another took its place. @param by the other ask; null if unknown */
  superseded(by: string | null): void {
    this.fail(new AskSupersededError(summaryWithoutTurn(this.threadId, this.askId), by));
  }

  /** Fails the ask: it joined a turn that ended before a prompt could show it. @param turn null if unknown */
  returned(turn: number | null): void {
    this.fail(new AskReturnedError(summaryWithoutTurn(this.threadId, this.askId), turn));
  }

  /** Fails the ask: no turn will be opened for it. */
  withdraw(): void {
    this.fail(new TurnCancelledError(summaryWithoutTurn(this.threadId, this.askId), this.#reason, this.#cause()));
  }

  moveTo(threadId: string): void {
    this.watcher?.settled(this);
    this.watcher = null;
    this.#isChecked = false;
    this.event = null;
    this.inboxId = null;
    this.whenBusy = null;
    this.threadId = threadId;
    this.parts.endWait();
  }

  /** Voids what was shown: the store lost the accepted ask. Returns false if that happened too often. */
  lost(): boolean {
    if (this.turn !== null) this.parts.push({ type: "thread.lost", turn: this.turn });
    this.watcher?.left(this);
    this.turn = null;
    this.#isChecked = false;
    return ++this.#carried <= carriedMost;
  }

  /** Prepares the ask for the next loop, after its loop was lost. Returns false if that happened too often. */
  carryOver(): boolean {
    this.watcher = null;
    this.#isChecked = false;
    const mayGoOn = ++this.#carried <= carriedMost;
    if (mayGoOn && this.turn !== null) this.parts.push({ type: "thread.lost", turn: this.turn });
    return mayGoOn;
  }

  accepted(): void {
    this.#isChecked = true;
  }

  /** Fails a refused ask. A repeated one instead waits for the turn that answers it, or gets its outcome at once. */
  refused(refusal: Refusal, state: State | null): void {
    if (refusal.kind === "stale") {
      if (state !== null && this.isKnownTo(state)) return;
      if (refusal.turn !== undefined) return this.join(refusal.turn);
    }
    if (refusal.kind === "busy" && this.whenBusy !== null) this.whenBusy();
    else this.fail(new AskRefusedError(this.threadId, this.askId, refusal));
  }

  /** Returns whether news about asks of its id concerns it. If it differs from the first such ask, it is refused. */
  isConcerned(state: State): boolean {
    if (!this.#isChecked) this.#checkWith(state);
    return !this.settled;
  }

  #checkWith(state: State): void {
    this.#isChecked = true;
    const other = this.event === null ? null : refusalOfRepeat(state, this.event);
    if (other !== null) this.fail(new AskRefusedError(this.threadId, this.askId, other));
  }

  /** Returns whether the thread already knows the ask. If so, the ask waits for its outcome, or gets it at once. */
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

  /** Joins the open turn if it is the ask's own. The turn is about to continue, and shows its requests then. */
  joinOpenTurn({ context: { open } }: State): void {
    if (open?.asks.some(({ askId }) => askId === this.askId) === true) this.join(open.number);
  }

  /** Joins a turn that is already in progress, and shows its pending approvals and results. */
  #joinUnderWay(turn: number, state: State): void {
    if (this.turn === turn) return;
    this.join(turn, this.event === null);
    for (const part of partsAwaited(state)) this.parts.push(part);
  }

  /** Does nothing: the loop that ends fails its asks, or has them carried over. */
  failed(): void {}

  get cursor(): string | null {
    const { place } = this.parts;
    return place === null ? null : cursorAt(place);
  }

  /** Whether the thread must be kept open for the ask. */
  get isWaitedFor(): boolean {
    return true;
  }

  /** Called when its loop has ended. Returns true if it needs no loop until code waits for it. */
  detach(): boolean {
    return false;
  }

  protected awaited(): void {}

  /** Settles the ask with its closed turn. */
  ended(turn: Turn): void {
    // Before anything is shown: if the turn cannot be read yet, this is done again.
    const result = resultOf(this.threadId, this.askId, turn, this.#cause());
    deliver(result, turn, this.output, (outcome) => {
      this.parts.endTurn({ type: "turn.ended", turn: turn.number, status: turn.outcome.status });
      this.#settle(outcome);
    });
  }

  fail(error: Error): void {
    if (!this.settled) this.parts.end(error);
    this.#settle(error);
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
    return { next: () => this.nextPart() };
  }

  protected nextPart(): Promise<IteratorResult<AskPart, undefined>> {
    this.awaited();
    return this.parts.next();
  }

  #settlement(): Promise<AskResult> {
    this.awaited();
    this.#awaiting ??= Promise.withResolvers();
    this.#deliver();
    return this.#awaiting.promise;
  }

  #settle(outcome: AskResult | Error): void {
    if (this.settled) return;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#outcome = outcome;
    this.#deliver();
    this.watcher?.settled(this);
  }

  #deliver(): void {
    if (this.#outcome instanceof Error) this.#awaiting?.reject(this.#outcome);
    else if (this.#outcome !== null) this.#awaiting?.resolve(this.#outcome);
  }

  #cause(): { readonly cause: unknown } | undefined {
    return this.#signal?.aborted === true ? { cause: this.#signal.reason } : undefined;
  }

  readonly #onAbort = (): void => {
    this.abort(messageOf(this.#signal?.reason));
  };
}

/** How often an ask survives a lost lease or a lost entry: a fault that frequent is not an accident. */
const carriedMost = 16;

/** The output that an ask of this process wants. */
interface OwnOutput extends WantedOutput {
  readonly clock: Clock;
}

/** Gives a result to its ask, validated by the ask's own schema: the host that checked it may have had another. */
const deliver = (
  result: CompletedTurn | Error,
  turn: Turn,
  output: OwnOutput | null,
  settle: (outcome: AskResult | Error) => void,
): void => {
  if (output === null || result instanceof Error) {
    settle(result);
    return;
  }
  if (result.text === redactedText) {
    const message = "its words were redacted";
    settle(new OutputError(result, { kind: "unchecked", message }, [{ message }], result.text));
    return;
  }
  const { clock, schema, expected } = output;
  const validator = { schema, jsonSchema: expected.schema };
  // A turn that another ask opened may have wanted no output.
  const checked =
    turn.output === undefined
      ? checkText(result.text, validator, clock)
      : checkValue(turn.output.value, validator, clock);
  const give = (found: Checked): void => settle(delivered(result, found));
  if (checked instanceof Promise) void checked.then(give);
  else give(checked);
};

const delivered = (result: CompletedTurn, checked: Checked): AskResult | OutputError => {
  if (checked.type === "valid") return Object.freeze({ ...result, output: checked.output });
  const issues = checked.type === "invalid" ? checked.issues : [{ message: checked.reason }];
  const kind = checked.type === "invalid" ? "invalid" : "unchecked";
  const message = issues.map(({ message: words, path = [] }) => [...path, words].join(": ")).join("; ");
  return new OutputError(result, { kind, message }, issues, result.text);
};

/** Is notified of an ask. Generic, so that the ask and the collection that keeps it can both name this type. */
interface AskWatcher<Ask> {
  joined(ask: Ask): void;
  left(ask: Ask): void;
  settled(ask: Ask): void;
}

/** Stops an ask. Returns true if its event had not been handled yet, so nothing of it is journalled. */
export type StopAsk<Ask> = (ask: Ask, reason: string | undefined) => boolean;
