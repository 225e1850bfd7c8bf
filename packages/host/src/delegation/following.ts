import { type Entry, type Signal, type State, turnNumbered } from "@colloquy/machine";
import { Ask } from "../ask/ask.ts";
import { type Asks, announce } from "../ask/asks.ts";
import { notAskedEarlier } from "../ask/earlier-ask.ts";
import { StoreError, ThreadHeldError, JournalUnreadableError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { HeldLease } from "../journal/lease.ts";
import { type Diversion, type Envelope, goesOn, type Sender } from "../mailbox/mailbox.ts";
import type { Engine, LeaseLostError } from "../ports/store.ts";
import { FollowedEngine } from "./followed-engine.ts";
import { FollowedJournal } from "./followed-journal.ts";
import { FollowedLog } from "./followed-log.ts";
import { mayBeInInbox } from "./inbox-items.ts";
import { type Answered, Outbox, type Outgoing } from "./outbox.ts";
import { KeptEnvelope, requestPollMsOf } from "./requested-lease.ts";
import { StorageError, type StorageProblem } from "../ports/storage-error.ts";

/** The loop that follows a thread, as following sees it. */
export interface Follower {
  readonly threadId: string;
  readonly host: HostContext;
  readonly asks: Asks;
  /** The state in which the thread was last known here, if asks came from an earlier loop; null if none did. */
  lost: State | null;
}

/**
 * The use of a thread that another host holds. Envelopes are posted as inbox items, their outcomes are read from the
 * journal, and the lease is tried for, so that no ask waits for a dead holder.
 *
 * The thread of an engine is always used this way. Then it has no lease to try for, any event is sent, and tasks run
 * with the followed state.
 */
export class Following implements Diversion {
  readonly outbox: Outbox;
  /** Envelopes that cannot be inbox items, until the lease that is requested for them is taken. */
  #kept: readonly KeptEnvelope[] = [];
  readonly #follower: Follower;
  readonly #onOver: () => void;
  readonly #journal: FollowedJournal;
  readonly #log: FollowedLog;
  /** Asks in the part of the journal that was read last. */
  readonly #seen = new Set<string>();
  /** Whether it is known which asks are in the journal. */
  #isCaughtUp = false;
  readonly #engine: FollowedEngine | null;
  #wake: (() => void) | null = null;
  /** Whether there is news since the last read of the journal started. */
  #hasNews = false;
  /** The time since which the store has failed; null if it works. */
  #failingSince: number | null = null;
  /** The time since which there is nothing to follow; null while there is. */
  #idleSince: number | null = null;
  #over = false;

  /** @param onOver called when nothing is left to follow, and no host is needed to continue the thread */
  constructor(follower: Follower, inbox: Outgoing, engine: Engine | null, onOver: () => void) {
    const { threadId, host, lost } = follower;
    this.#follower = follower;
    this.#onOver = onOver;
    this.outbox = new Outbox(threadId, host, inbox);
    this.#journal = new FollowedJournal(threadId, host, lost, (entry, signals, state) =>
      this.#show(entry, signals, state),
    );
    this.#engine = engine === null ? null : new FollowedEngine(engine, follower, this.outbox, () => this.#wakeUp());
    this.#log = this.#engine?.log ?? new FollowedLog(follower, null);
    const open = lost?.context.open ?? null;
    if (open !== null) this.#log.lost(open.number);
  }

  /** Posts an envelope as an inbox item. One that cannot be an item is kept, and the lease is requested for it. */
  post(envelope: Envelope): void {
    const { sender } = envelope;
    const { clock, leaseTtlMs } = this.#follower.host;
    if (this.#engine !== null) {
      this.#engine.add(envelope);
      return this.#wakeUp();
    }
    if (sender instanceof Ask) sender.parts.beginWait(clock.now() + leaseTtlMs);
    if (sender instanceof Ask && sender.event === null) {
      const { state } = this.#journal;
      if (state !== null && sender.isKnownTo(state)) return sender.refused(notAskedEarlier, state);
      // The ask may have been made since the journal was read.
      this.#isCaughtUp = false;
      return this.#wakeUp();
    }
    if ("event" in envelope && mayBeInInbox(envelope.event)) this.outbox.add(envelope, envelope.event);
    // Most threads that a host holds exist: to start one, no host has to give up what it has.
    else if ("event" in envelope && envelope.event.type === "thread.started")
      sender?.failed(new ThreadHeldError(this.#follower.threadId));
    else this.#keep(envelope);
    // The thread is wanted: perhaps it is free by now.
    this.#wake?.();
  }

  #keep(envelope: Envelope): void {
    const { threadId, host } = this.#follower;
    const kept = new KeptEnvelope(envelope, threadId, host);
    this.#kept = [...this.#kept.filter(({ isOver }) => !isOver), kept];
    this.outbox.add({ event: kept.request, sender: kept }, kept.request, kept.id);
  }

  takeBack(sender: Sender): boolean {
    return this.#engine?.takeBack(sender) === true || this.outbox.takeBack(sender);
  }

  /** Stops following. Posted inbox items stay in the inbox, except requests for the lease. */
  end(): readonly Envelope[] {
    this.#over = true;
    this.#log.end();
    this.#wake?.();
    const kept = this.#kept.flatMap((each) => each.take());
    const { posted, others } = this.takeAll();
    return [...kept, ...posted.values(), ...others, ...(this.#engine?.end() ?? [])];
  }

  /** Returns the envelopes that were posted here, in order. A kept one has the place of its request. */
  takeAll(): { readonly posted: Map<string, Envelope>; readonly others: readonly Envelope[] } {
    this.#dropRequests();
    const { posted, others } = this.outbox.takeAll();
    const meant = (envelope: Envelope): readonly Envelope[] =>
      envelope.sender instanceof KeptEnvelope ? envelope.sender.take() : [envelope];
    return {
      posted: new Map([...posted].flatMap(([id, envelope]) => meant(envelope).map((each) => [id, each] as const))),
      others: others.flatMap(meant),
    };
  }

  /** Drops the requests of envelopes that failed, or were taken. */
  #dropRequests(): void {
    this.outbox.drop((sender) => sender instanceof KeptEnvelope && sender.isOver);
  }

  /** Follows until the lease is taken; null when nothing is left to follow. @throws errors that waiting can't mend */
  async untilHeld(onLost: (error: LeaseLostError) => void): Promise<HeldLease | null> {
    if (this.#follower.lost !== null) {
      // Perhaps no host has wanted it since.
      const lease = await this.#tryToTake(onLost);
      if (lease !== null) return lease;
    }
    while (!this.#over) {
      await this.#tryRound();
      const refused = this.#kept.filter((kept) => kept.isRefused(this.#follower.host.clock.now()));
      if (refused.length > 0) {
        const lease = await this.#tryToTake(onLost);
        if (lease !== null) return lease;
        for (const kept of refused) kept.fail();
      }
      const rested = await this.#pause();
      if (this.#over) return null;
      if (!rested || this.#isWorkLeft()) {
        const lease = await this.#tryToTake(onLost);
        if (lease !== null) return lease;
      }
      if (rested && !this.#over && !this.#waits && !this.#mayBeNeeded()) {
        this.#over = true;
        this.#onOver();
      }
    }
    return null;
  }

  async #tryRound(): Promise<void> {
    const since = this.#follower.host.clock.now();
    try {
      await this.#round();
      this.#failingSince = null;
    } catch (thrown) {
      this.#tolerate(thrown, since);
    }
  }

  /**
   * Reports an error of the store.
   *
   * @param since when the call began: a store that does not answer fails late.
   * @throws it when waiting can't help, or after `storeTimeoutMs`
   */
  #tolerate(thrown: unknown, since: number): void {
    const { host } = this.#follower;
    this.#failingSince ??= since;
    if (isLasting(thrown) || host.clock.now() - this.#failingSince >= host.storeTimeoutMs) throw thrown;
    host.observation.report(thrown, "store");
  }

  /** Posts the items that are due, and reads the answers and the journal. */
  async #round(): Promise<void> {
    this.#dropRequests();
    // An ask may be in the journal already, and must not be posted again. An engine checks that itself.
    if (this.outbox.isDue && (this.#engine === null || !this.#isCaughtUp)) await this.#read();
    await this.outbox.send();
    await this.#readAnswers();
    if (!this.#over) this.#engine?.pass(this.#journal.state);
  }

  /** Fetches the answers before the journal is read, so that the journal then has the entries that they name. */
  async #readAnswers(): Promise<void> {
    const answers = await this.outbox.answers();
    await this.#read();
    for (const answered of answers) await this.#settle(answered);
  }

  async #read(): Promise<void> {
    this.#hasNews = false;
    const { asks } = this.#follower;
    // An ask that is rejoined during the read may be in an entry after it: the next read shows that.
    const asked = this.#isCaughtUp ? null : new Set(asks.all());
    this.#log.beginRead();
    // Parts that were shown before an entry was written are shown before it.
    const goesOn = await this.#journal.read(() => this.#log.readStored());
    const { state } = this.#journal;
    if (!goesOn) this.#askAnew(state);
    if (state !== null && (!this.#isCaughtUp || !goesOn)) this.#log.knows(state);
    if (state !== null && asked !== null) {
      let isCaughtUp = true;
      for (const ask of asks.all()) {
        if (ask.isKnownTo(state)) this.#seen.add(ask.askId);
        else if (ask.event === null && asked.has(ask)) ask.refused(notAskedEarlier, state);
        else if (ask.event === null) isCaughtUp = false;
      }
      this.#isCaughtUp = isCaughtUp;
    }
    this.outbox.drop((sender) => sender instanceof Ask && (sender.settled || this.#seen.has(sender.askId)));
    this.#seen.clear();
    this.#log.endRead();
  }

  /** Asks again what the store has lost of the journal. */
  #askAnew(state: State | null): void {
    const { asks } = this.#follower;
    for (const ask of asks.all()) if (state === null || !ask.isKnownTo(state)) this.#addAnew(ask);
  }

  #addAnew(ask: Ask): void {
    if (!ask.lost()) ask.fail(new StoreError(ask.threadId, "keep the ask", new Error("it took it, and lost it again")));
    else if (ask.event !== null) this.outbox.addAnew(ask, ask.event);
  }

  #settle(answered: Answered): Promise<void> {
    const { sender } = answered.item.envelope;
    const { state } = this.#journal;
    const isInJournal = answered.answer.handled || answered.answer.refusal.turn !== undefined;
    // The entry may have been read long ago. If it is not there, the store lost it before it was read here.
    if (sender instanceof Ask && isInJournal && this.outbox.waitsFor(answered))
      if (state === null || !sender.isKnownTo(state)) this.#addAnew(sender);
    // It stays in the outbox, at its place, until it has failed or the lease is taken.
    if (sender instanceof KeptEnvelope && !answered.answer.handled) return Promise.resolve(sender.refused());
    return this.outbox.settle(answered, (sender, { refusal }) => {
      if (this.#engine?.fails(answered, state) !== true) sender.refused(refusal, state);
    });
  }

  #show(entry: Entry, signals: readonly Signal[], state: State): void {
    const { asks } = this.#follower;
    if (entry.event.type === "ask.received") this.#seen.add(entry.event.askId);
    for (const signal of signals) {
      const ended = signal.type === "turn.ended" ? turnNumbered(state, signal.turn) : undefined;
      if (ended !== undefined) this.#log.complete(ended);
      announce(asks, signal, state, ended);
    }
    this.#log.completeOpen(state);
  }

  get #waits(): boolean {
    return this.#follower.asks.areWaitedFor || this.outbox.size > 0 || (this.#engine?.size ?? 0) > 0;
  }

  #isWorkLeft(): boolean {
    const { state } = this.#journal;
    return state !== null && goesOn(state);
  }

  /** Returns whether work is left whose holder may be dead: its lease could not have expired yet. */
  #mayBeNeeded(): boolean {
    const { clock, leaseTtlMs } = this.#follower.host;
    return this.#engine === null && this.#isWorkLeft() && clock.now() - (this.#idleSince ?? clock.now()) < leaseTtlMs;
  }

  /** Waits for the next round. With nothing to follow it waits longer, and returns true if no news came meanwhile. */
  async #pause(): Promise<boolean> {
    if (this.#over || ((this.outbox.hasNew || this.#hasNews) && this.#failingSince === null)) return false;
    const { pollMs, idleMs, clock } = this.#follower.host;
    const waits = this.#waits;
    this.#idleSince = waits ? null : (this.#idleSince ?? clock.now());
    const due = await this.#sleep(
      waits
        ? this.#log.isHeard
          ? pollMs * pollsBetweenNews
          : this.#kept.some(({ isOver }) => !isOver)
            ? requestPollMsOf(this.#follower.host)
            : pollMs
        : this.#isWorkLeft()
          ? Math.max(idleMs, pollMs)
          : idleMs,
    );
    return due && !waits && !this.#waits;
  }

  #wakeUp(): void {
    this.#hasNews = true;
    this.#wake?.();
  }

  #sleep(ms: number): Promise<boolean> {
    const { clock } = this.#follower.host;
    return new Promise((resolve) => {
      const wakeUp = (due: boolean): void => {
        this.#wake = null;
        cancel();
        resolve(due);
      };
      const cancel = clock.wakeAt(clock.now() + ms, () => wakeUp(true));
      this.#wake = () => wakeUp(false);
    });
  }

  /** Takes the lease if it is free. The last holder's entries are shown before anything else is done. */
  async #tryToTake(onLost: (error: LeaseLostError) => void): Promise<HeldLease | null> {
    if (this.#engine !== null) return null;
    const { threadId, host } = this.#follower;
    let lease: HeldLease | null = null;
    const since = host.clock.now();
    try {
      lease = await HeldLease.take(threadId, host, onLost);
      if (lease === null) return null;
      await this.#readAnswers();
      this.#follower.lost = this.#journal.state;
      return lease;
    } catch (thrown) {
      await lease?.end();
      this.#tolerate(thrown, since);
      return null;
    }
  }
}

/** An engine that reports news is polled only for news that were lost. */
const pollsBetweenNews = 5;

const isLasting = (thrown: unknown): boolean => {
  const cause = thrown instanceof StoreError ? thrown.cause : thrown;
  return thrown instanceof JournalUnreadableError || (cause instanceof StorageError && lasting.has(cause.kind));
};

/** Problems that no waiting mends. */
const lasting: ReadonlySet<StorageProblem> = new Set<StorageProblem>([
  "newer",
  "older",
  "not-a-store",
  "closed",
  "invalid-id",
]);
