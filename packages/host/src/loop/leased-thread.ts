import { askNamed, type Entry, type Refusal, type State } from "@colloquy/machine";
import type { SnapshotDamagedError } from "@colloquy/machine/storage";
import type { Worker } from "../activity/active-threads.ts";
import { Ask } from "../ask/ask.ts";
import { StoreError, StoreTimeoutError, ThreadHeldError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { type Follower, Following } from "../delegation/following.ts";
import { HeldInbox } from "../delegation/inbox.ts";
import { HeldLease } from "../journal/lease.ts";
import { loadWhole, openJournal, seenIn } from "../journal/opening.ts";
import { missesMost, type SnapshotReader } from "../journal/snapshot-reader.ts";
import { Snapshots } from "../journal/snapshots.ts";
import type { Envelope, EventEnvelope, MadeEnvelope, Mailbox } from "../mailbox/mailbox.ts";
import { inTime } from "../ports/store-in-time.ts";
import { type Lease, type LeaseLostError } from "../ports/store.ts";

/** A loop that wants the lease of its thread. */
export interface Candidate extends Follower, Worker {
  readonly hasEnded: boolean;
  post(envelope: Envelope): void;
  end(reason: Error): void;
}

/** What a loop knows of the one before it. */
export interface LoopBefore {
  readonly over: Promise<void> | undefined;
  /** Under which name the lease is to be taken. */
  readonly owner: string;
  /** The state in which it lost the thread, if its asks go on; else null. */
  readonly lost: State | null;
}

/**
 * Takes the lease of a thread, or follows its holder until it is free: meanwhile the mailbox is diverted to the inbox. Null when
 * there was nothing left to follow.
 *
 * @throws ThreadHeldError where it can't be followed; StoreError, JournalUnreadableError
 */
export const leaseThread = async (candidate: Candidate, mailbox: Mailbox): Promise<LeasedThread | null> => {
  const { threadId, owner, host, lost } = candidate;
  const { active, store } = host;
  const onLost = (error: LeaseLostError): void => candidate.end(error);
  // Where it was lost, what became of its asks meanwhile has to be read before anything else.
  const lease = lost === null ? await HeldLease.take(threadId, host, onLost, owner) : null;
  if (lease !== null) return new LeasedThread(lease, candidate, null);
  if (candidate.hasEnded) return null;
  if (store.inbox === undefined || !mayFollow(host)) throw new ThreadHeldError(threadId);
  // Nothing of it is worked on here.
  active.leave(candidate);
  const following = new Following(candidate, store.inbox, () => candidate.end(new ThreadHeldError(threadId)));
  mailbox.divert(following);
  const followed = await following.untilHeld(onLost);
  if (followed === null) return null;
  if (!candidate.hasEnded) await active.enter(candidate);
  mailbox.divert(null);
  for (const ask of candidate.asks.all()) ask.goesOn();
  const { left, others } = following.outbox.takeAll();
  for (const envelope of others) mailbox.add(envelope);
  return new LeasedThread(followed, candidate, left);
};

/** Whether what is asked on a thread that another host holds may be left there. */
export const mayFollow = ({ store, whenHeld }: HostContext): boolean =>
  store.inbox !== undefined && whenHeld === "enqueue";

/** A thread of which this host has the lease: the lease itself, and what only its holder does with the store. */
export class LeasedThread {
  readonly #candidate: Candidate;
  readonly #lease: HeldLease;
  readonly #inbox: HeldInbox | null;
  readonly #snapshots: Snapshots;
  /** What was missed of the snapshot since the last entry. */
  #misses = 0;
  /** Envelopes of inbox items that this host left before, by their ids. */
  #own: Map<string, EventEnvelope> | null;

  constructor(lease: HeldLease, candidate: Candidate, own: Map<string, EventEnvelope> | null) {
    const { host } = candidate;
    const { inbox } = host.store;
    this.#candidate = candidate;
    this.#lease = lease;
    this.#own = own;
    this.#inbox = inbox === undefined ? null : new HeldInbox(inbox, lease.lease, host, candidate);
    this.#snapshots = new Snapshots(host);
  }

  get lease(): Lease {
    return this.#lease.lease;
  }

  /** What the older turns of the state are read by. */
  get reader(): SnapshotReader {
    return this.#snapshots.reader;
  }

  /** Whether another host may have the thread by now. */
  get ranOut(): boolean {
    return this.#lease.ranOut;
  }

  /** What others left for the thread, and what this host did. */
  async inboxItems(): Promise<readonly EventEnvelope[]> {
    const own = this.#own;
    this.#own = null;
    const items = (await this.#inbox?.collect(own)) ?? [];
    // Of an inbox item that is there no more it is not known what became of it.
    return [...items, ...(own?.values() ?? [])];
  }

  get host(): HostContext {
    return this.#candidate.host;
  }

  /** Notifies the sender of what changed nothing. Of an ask that is refused here nothing may come afterwards, by an inbox item that asks the same. */
  refuse(envelope: EventEnvelope | MadeEnvelope, refusal: Refusal, state: State): void {
    const { sender } = envelope;
    const isAsk = "event" in envelope && envelope.event.type === "ask.received" && sender instanceof Ask;
    // One that finds nothing to join is refused as stale too, and was not made before; of one that says something else
    // than the first of its id, that one may be an inbox item.
    const mayBeKnown = refusal.kind === "stale" || refusal.kind === "invalid";
    const isNew = isAsk && (!mayBeKnown || askNamed(state, sender.askId) === null);
    if (isNew && this.#inbox !== null) void this.#refuseAsk(this.#inbox, sender, refusal, state);
    else sender?.refused(refusal, state);
  }

  async #refuseAsk(inbox: HeldInbox, ask: Ask, refusal: Refusal, state: State): Promise<void> {
    try {
      await inbox.refuseAsk(ask.askId, refusal);
      // A loop that has ended has failed its asks, or has them carried over.
      if (this.#candidate.hasEnded) return;
      const { host } = this.#candidate;
      await seenIn(host, { state, reader: this.reader }, (known) => ask.refused(refusal, known), "some");
    } catch (thrown) {
      // Made by the inbox.
      if (!this.#candidate.hasEnded) ask.fail(thrown as Error);
    }
  }

  /** The thread as the journal has it; null when it is new. @throws JournalUnreadableError, StoreError, LeaseLostError */
  async open(): Promise<State | null> {
    const opened = await openJournal(this.#candidate.host, this.lease);
    if (opened !== null) this.#snapshots.begin(opened);
    return opened?.state ?? null;
  }

  /**
   * After something of the snapshot could not be read: the same state, where that had only to be fetched; else that from
   * the journal alone, which has all that a damaged snapshot held.
   *
   * @throws JournalUnreadableError, StoreError
   */
  async openAgain(damage: SnapshotDamagedError, state: State): Promise<State> {
    const { host, threadId } = this.#candidate;
    try {
      if (await this.reader.fetch(++this.#misses < missesMost ? damage.chunk : null)) return state;
      host.observation.report(damage, "snapshot");
    } catch (failed) {
      host.observation.report(failed, "snapshot");
    }
    this.#snapshots.forget();
    return loadWhole(host, threadId);
  }

  /** From here on inbox items are looked for now and then. */
  watch(): void {
    this.#inbox?.watch();
  }

  /** Adds an entry to the journal, durable when the promise resolves, or at once. @throws LeaseLostError, SequenceConflictError, StoreError */
  append(entry: Entry): void | Promise<void> {
    return this.#lease.append(entry);
  }

  /** An entry was added, and this is the state after it. */
  appended(entry: Entry, state: State): void {
    this.#misses = 0;
    this.#snapshots.appended(this.lease, entry, state);
  }

  /** Gives the thread back: what is to be written about it is written before. Never rejects. @param state null where it is not known to be right. */
  async end(state: State | null): Promise<void> {
    const { clock, storeTimeoutMs, observation } = this.host;
    this.#inbox?.stop();
    try {
      // A store that did not answer is not asked again, one thing after the other.
      if (!this.#lease.isUnanswered)
        await inTime(
          clock,
          storeTimeoutMs,
          () => this.#finish(state),
          () => new StoreTimeoutError("closing", storeTimeoutMs),
        );
    } catch (thrown) {
      observation.report(new StoreError(this.lease.threadId, "take what was left to write", thrown), "store");
    }
    await this.#lease.release();
  }

  /** Never rejects. */
  async #finish(state: State | null): Promise<void> {
    if (state !== null) await this.#snapshots.end(this.lease, state);
    await this.#inbox?.end();
  }
}
