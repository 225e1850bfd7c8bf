import type { State } from "@colloquy/machine";
import { SnapshotDamagedError } from "@colloquy/machine/storage";
import type { Ask } from "../ask/ask.ts";
import { Asks } from "../ask/asks.ts";
import { notAskedEarlier } from "../ask/earlier-ask.ts";
import { StoreError, ThreadClosedError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { SnapshotReader } from "../journal/snapshot-reader.ts";
import { type Envelope, goesOn, isIdle, Mailbox } from "../mailbox/mailbox.ts";
import { LeaseLostError } from "../ports/store.ts";
import { begin } from "./beginning.ts";
import { decide, endedMeanwhile, type Taken, takeTogether } from "./decide.ts";
import { type Candidate, type LeasedThread, leaseThread, type PreviousLoop, mayFollow } from "./leased-thread.ts";
import type { LoopPort, Responding, Running } from "./loop-port.ts";
import { perform, stopAnswered } from "./perform.ts";
import { reportEffect, reportEntry } from "./report.ts";
import { recover } from "./recovery.ts";

/**
 * The loop of one thread. Its law:
 * 1. Take one event. Let the machine decide it. (Tool results that wait together are taken together.)
 * 2. Append its entry, with the seq that it continues, under the lease.
 * 3. Only then take over the new state and perform the effects, in order.
 * 4. Only then take the next event. The performer of an effect answers by an event, never otherwise.
 *
 * If anything fails in between (the store fails, the lease is lost), the loop ends, and its work is stopped: it is
 * unknown how far the work got. The next use of the thread reads the journal and recovers, as it would after a crash.
 */
export class ThreadLoop implements Candidate, LoopPort {
  readonly threadId: string;
  lost: State | null;
  readonly host: HostContext;
  readonly asks: Asks = new Asks();
  readonly running: Map<string, Running> = new Map();
  responding: Responding | null = null;
  /** Null while the thread is being opened, or is held by another host. */
  state: State | null = null;
  /** Whether the thread was released for another host that left an item in its inbox. */
  isHandedOver = false;
  readonly #mailbox = new Mailbox();
  readonly #onEnd: (loop: ThreadLoop, carried: readonly Ask[]) => void;
  #busy = true; // opening, or between taking an event and having performed its effects
  #leased: LeasedThread | null = null;
  /** Resolves when no write is in progress any more, so that the lease can be released. */
  #underWay: Promise<void>;
  #ended: Error | null = null;
  /** Whether entries were being stored when it ended or failed: then the journal may be ahead of the state here. */
  #wroteLast = false;
  #released: Promise<void> | null = null;
  #idleSince = 0;
  #cancelIdle: (() => void) | null = null;

  /** @param onEnd called with the asks that continue in another loop, since this one lost its lease */
  constructor(
    threadId: string,
    host: HostContext,
    before: PreviousLoop,
    onEnd: (loop: ThreadLoop, carried: readonly Ask[]) => void,
  ) {
    this.threadId = threadId;
    this.lost = before.lost;
    this.host = host;
    this.#onEnd = onEnd;
    this.#underWay = this.#open(before.over);
  }

  get reader(): SnapshotReader | null {
    return this.#leased?.reader ?? null;
  }

  get hasMore(): boolean {
    return this.#mailbox.size > 0;
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  post(envelope: Envelope): void {
    this.#mailbox.add(envelope);
    if (!this.#busy) this.#drain();
  }

  /** Calls `work` with the state when all earlier envelopes are done. Rejects if the thread cannot be used here. */
  run<Result>(work: (state: State) => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, failed) => this.post({ task: (state) => resolve(work(state)), sender: { failed } }));
  }

  /** Puts an ask into the mailbox, and notifies it of its turn from then on. An earlier ask is only looked up. */
  postAsk(ask: Ask): void {
    const { event } = ask;
    if (this.#ended !== null) {
      ask.fail(this.#ended);
      return;
    }
    this.asks.add(ask);
    const lookUp = (state: State): void => ask.refused(notAskedEarlier, state);
    this.post(event === null ? { task: lookUp, sender: ask } : { event, sender: ask, isRead: ask.isRead });
    if (ask.cancel !== null) this.post({ event: ask.cancel, sender: null });
  }

  /** Takes an ask out of the mailbox again. Returns false if it was already taken. */
  takeBack(ask: Ask): boolean {
    return this.#mailbox.takeBack(ask);
  }

  /** Ends the loop, not the turn, which continues when the thread is next opened. */
  close(): Promise<void> {
    this.end(new ThreadClosedError(this.threadId));
    return this.released;
  }

  /** Resolves when the lease is released. */
  get released(): Promise<void> {
    return this.#released ?? this.#underWay;
  }

  /** Whether the lease ran out, as it does while a process stands still: the thread may have continued elsewhere. */
  get ranOut(): boolean {
    return this.#leased?.held.ranOut === true;
  }

  mayCall(): boolean {
    if (this.#leased?.held.ranOut === true) this.end(new LeaseLostError(this.#leased.held.lease));
    return this.#ended === null;
  }

  /** Ends the loop if the thread is idle here, for another host that wants the thread. */
  handOver(): boolean {
    if (!this.#isIdle()) return false;
    this.isHandedOver = true;
    this.end(new ThreadClosedError(this.threadId));
    return true;
  }

  async #open(after: Promise<void> | undefined): Promise<void> {
    try {
      await after;
      if (this.#ended === null) this.#leased = await leaseThread(this, this.#mailbox);
      if (this.#ended === null && this.#leased !== null) await this.#begin(this.#leased);
    } catch (thrown) {
      // Thrown by this package, or by `start` for an invalid seed.
      this.end(thrown instanceof Error ? thrown : new StoreError(this.threadId, "open it", thrown));
    }
    this.#drain();
  }

  async #begin(leased: LeasedThread): Promise<void> {
    const items = await leased.inboxItems(this.#mailbox.posted);
    // Items that were posted while another host was followed are older than the mailbox.
    if (leased.hasFollowed) this.#mailbox.addFirst(items);
    else for (const envelope of items) this.#mailbox.add(envelope);
    this.state = await leased.open();
    if (this.#ended !== null) return;
    const known = (state: State): void => void (this.state = state);
    if (this.state === null) await begin(this, leased, this.#mailbox, known);
    else this.#mailbox.addFirst(await leased.withWholeState(this.state, known, (state) => recover(this, state)));
    leased.watch();
  }

  #drain(): void {
    this.#busy = true;
    const leased = this.#leased;
    if (this.#ended !== null || leased === null) return;
    for (let envelope = this.#mailbox.take(); envelope !== undefined; envelope = this.#mailbox.take()) {
      try {
        if (this.state === null) continue;
        if ("task" in envelope) {
          envelope.task(this.state);
          continue;
        }
        const step = decide(this.host, leased, envelope, this.state, this.responding);
        if (step === null) continue;
        const first = { envelope, step };
        const taken = step.entry.event.type.startsWith("tool.")
          ? takeTogether(this.host.machine, this.#mailbox, first)
          : [first];
        const appending = leased.held.append(taken.map((each) => each.step.entry));
        if (appending !== undefined || taken.length > 1) {
          this.#underWay = this.#goOn(appending, taken);
          return;
        }
        this.#commit({ envelope, step });
      } catch (thrown) {
        if (thrown instanceof SnapshotDamagedError && this.state !== null) {
          this.#underWay = this.#decideAnew(leased, this.state, envelope, thrown);
          return;
        }
        this.#fail(envelope, thrown);
      }
    }
    this.#busy = false;
    this.rest();
  }

  rest(): void {
    if (!this.#isIdle()) return;
    // A turn that waits for an answer outside is still written.
    if (this.state?.context.open === null) this.#leased?.rest();
    // One timer serves all waits.
    this.#idleSince = this.host.clock.now();
    this.#cancelIdle ??= this.#wakeAt(this.#idleSince + this.host.idleMs);
  }

  /** Continues `#drain` after the append, if that is not immediate or has several entries. */
  async #goOn(appending: void | Promise<void>, taken: readonly Taken[]): Promise<void> {
    try {
      await appending;
      if (this.#ended !== null) throw await endedMeanwhile(this.host.machine, this.#leased, taken, this.#ended);
      for (const each of taken) this.#commit(each);
    } catch (thrown) {
      this.#wroteLast = true;
      for (const { envelope } of taken) this.#fail(envelope, thrown);
    }
    this.#drain();
  }

  /** Decides an event again, after a chunk of a snapshot that it needs could not be read. */
  async #decideAnew(
    leased: LeasedThread,
    state: State,
    envelope: Envelope,
    damage: SnapshotDamagedError,
  ): Promise<void> {
    try {
      this.state = await leased.openAgain(damage, state);
      this.#mailbox.addFirst([envelope]);
    } catch (thrown) {
      this.#fail(envelope, thrown);
    }
    this.#drain();
  }

  #commit({ envelope: { sender }, step: { state, entry, effects } }: Taken): void {
    const before = this.state;
    this.state = state;
    this.#leased?.appended(entry, state);
    sender?.accepted(entry);
    stopAnswered(this, entry.event);
    reportEntry(this, entry, before, state);
    // By index: frozen lists have slow iterators.
    for (let index = 0; index < effects.length; index++) {
      const effect = effects[index];
      // An observer may have closed the thread.
      if (effect === undefined || this.#ended !== null) return;
      reportEffect(this, effect);
      if (effect.type !== "publish") perform(this, effect);
    }
  }

  #fail({ sender }: Envelope, thrown: unknown): void {
    // Only foreign code throws a value that is not an error, never this package or the machine.
    const error = thrown instanceof Error ? thrown : new StoreError(this.threadId, "go on", thrown);
    sender?.failed(error);
    this.end(error);
  }

  end(reason: Error): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    this.#cancelIdle?.();
    for (const running of this.running.values()) running.stop(reason);
    this.running.clear();
    for (const { sender } of this.#mailbox.end(reason)) sender?.failed(reason);
    // Another host may have the thread now, and can be followed.
    const carried = this.asks.end(reason, reason instanceof LeaseLostError && mayFollow(this.host));
    this.#released = this.#release();
    this.#onEnd(this, carried);
  }

  #wakeAt(dueAt: number): () => void {
    const { clock, idleMs } = this.host;
    return clock.wakeAt(dueAt, () => {
      this.#cancelIdle = null;
      if (!this.#isIdle()) return;
      const due = this.#idleSince + idleMs;
      if (due <= clock.now()) void this.#letGo();
      else this.#cancelIdle = this.#wakeAt(due);
    });
  }

  /** Releases an idle thread, unless its inbox has a new item. */
  async #letGo(): Promise<void> {
    for (const envelope of (await this.#leased?.inboxItems(this.#mailbox.posted)) ?? []) this.post(envelope);
    if (this.#isIdle()) this.end(new ThreadClosedError(this.threadId));
  }

  async #release(): Promise<void> {
    await this.#underWay;
    const state = this.#ended instanceof ThreadClosedError ? this.state : null;
    await this.#leased?.end(state, state !== null && !this.#wroteLast && !goesOn(state));
  }

  #isIdle(): boolean {
    if (this.#ended !== null || this.#busy || this.running.size > 0) return false;
    return !this.asks.areWaitedFor && this.#mailbox.size === 0 && this.state !== null && isIdle(this.state);
  }
}
