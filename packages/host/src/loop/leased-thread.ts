import type { Entry, Refusal, State } from "@colloquy/machine";
import type { SnapshotDamagedError } from "@colloquy/machine/storage";
import type { Worker } from "../activity/active-threads.ts";
import { Ask } from "../ask/ask.ts";
import { standingOf } from "../ask/standing.ts";
import type { Equipment } from "../context/host-context.ts";
import { StoreError, StoreTimeoutError, ThreadHeldError } from "../boundary/errors.ts";
import { type Lease, type LeaseLostError } from "../ports/store.ts";
import { inTime } from "../ports/store-in-time.ts";
import { type Follower, Following } from "../delegation/following.ts";
import { HeldLease } from "../journal/lease.ts";
import { HeldInbox } from "../delegation/inbox.ts";
import type { Mail, Mailbox } from "../mailbox/mailbox.ts";
import { loadWhole, openJournal, seenIn } from "../journal/opening.ts";
import { missesMost, type SnapshotReader } from "../journal/snapshot-reader.ts";
import { Snapshots } from "../journal/snapshots.ts";

/** Who wants to hold a thread. */
export interface Claimant extends Follower, Worker {
  readonly hasEnded: boolean;
  post(mail: Mail): void;
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
 * Takes hold of a thread, or follows whoever has it until it is free: then the mailbox is diverted to letters. Null when
 * there was nothing left to follow.
 *
 * @throws ThreadHeldError where nobody may follow; StoreError, JournalUnreadableError
 */
export const takeHold = async (claimant: Claimant, mailbox: Mailbox): Promise<Hold | null> => {
  const { threadId, owner, equipment, lost } = claimant;
  const { active, store } = equipment;
  const onLost = (error: LeaseLostError): void => claimant.end(error);
  // Where it was lost, what became of its asks meanwhile has to be read before anything else.
  const lease = lost === null ? await HeldLease.take(threadId, equipment, onLost, owner) : null;
  if (lease !== null) return new Hold(lease, claimant, null);
  if (claimant.hasEnded) return null;
  if (store.inbox === undefined || !mayFollow(equipment)) throw new ThreadHeldError(threadId);
  // Nothing of it is worked on here.
  active.leave(claimant);
  const following = new Following(claimant, store.inbox, () => claimant.end(new ThreadHeldError(threadId)));
  mailbox.divert(following);
  const followed = await following.untilHeld(onLost);
  if (followed === null) return null;
  if (!claimant.hasEnded) await active.enter(claimant);
  mailbox.divert(null);
  for (const ask of claimant.asks.all()) ask.goesOn();
  const { left, others } = following.outbox.takeAll();
  for (const mail of others) mailbox.add(mail);
  return new Hold(followed, claimant, left);
};

/** Whether what is asked on a thread that another host holds may be left there. */
export const mayFollow = ({ store, whenHeld }: Equipment): boolean =>
  store.inbox !== undefined && whenHeld === "enqueue";

/** A thread that is held: the lease, and what only its holder does with the store. */
export class Hold {
  readonly #claimant: Claimant;
  readonly #lease: HeldLease;
  readonly #inbox: HeldInbox | null;
  readonly #snapshots: Snapshots;
  /** What was missed of the snapshot since the last entry. */
  #misses = 0;
  /** Mails of letters that this host left before, by their ids. */
  #own: Map<string, Mail> | null;

  constructor(lease: HeldLease, claimant: Claimant, own: Map<string, Mail> | null) {
    const { equipment } = claimant;
    const { inbox } = equipment.store;
    this.#claimant = claimant;
    this.#lease = lease;
    this.#own = own;
    this.#inbox = inbox === undefined ? null : new HeldInbox(inbox, lease.lease, equipment, claimant);
    this.#snapshots = new Snapshots(equipment);
  }

  get lease(): Lease {
    return this.#lease.lease;
  }

  /** What the older turns of the state are read by. */
  get reader(): SnapshotReader {
    return this.#snapshots.reader;
  }

  /** Whether somebody else may have the thread by now. */
  get ranOut(): boolean {
    return this.#lease.ranOut;
  }

  /** What others left for the thread, and what this host did. */
  async letters(): Promise<readonly Mail[]> {
    const own = this.#own;
    this.#own = null;
    const letters = (await this.#inbox?.collect(own)) ?? [];
    // Of a letter that is there no more it is not known what became of it.
    return [...letters, ...(own?.values() ?? [])];
  }

  get equipment(): Equipment {
    return this.#claimant.equipment;
  }

  /** Tells whose mail changed nothing. Of an ask that is refused here nothing may come afterwards, by a letter that asks the same. */
  refuse({ event, receipt }: Mail, refusal: Refusal, state: State): void {
    const isAsk = event.type === "ask.received" && receipt instanceof Ask;
    // One that finds nothing to join is refused as stale too, and was not made before; of one that says something else
    // than the first of its id, that one may be a letter.
    const mayBeKnown = refusal.kind === "stale" || refusal.kind === "invalid";
    const isNew = isAsk && (!mayBeKnown || standingOf(state, event.askId) === null);
    if (isNew && this.#inbox !== null) void this.#refuseAsk(this.#inbox, receipt, refusal, state);
    else receipt?.refused(refusal, state);
  }

  async #refuseAsk(inbox: HeldInbox, ask: Ask, refusal: Refusal, state: State): Promise<void> {
    try {
      await inbox.refuseAsk(ask.askId, refusal);
      // Who has ended has told its asks, or takes them along.
      if (this.#claimant.hasEnded) return;
      const { equipment } = this.#claimant;
      await seenIn(equipment, { state, reader: this.reader }, (known) => ask.refused(refusal, known), "some");
    } catch (thrown) {
      // Made by the inbox.
      if (!this.#claimant.hasEnded) ask.fail(thrown as Error);
    }
  }

  /** The thread as the journal has it; null when it is new. @throws JournalUnreadableError, StoreError, LeaseLostError */
  async open(): Promise<State | null> {
    const opened = await openJournal(this.#claimant.equipment, this.lease);
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
    const { equipment, threadId } = this.#claimant;
    try {
      if (await this.reader.fetch(++this.#misses < missesMost ? damage.chunk : null)) return state;
      equipment.observation.report(damage, "snapshot");
    } catch (failed) {
      equipment.observation.report(failed, "snapshot");
    }
    this.#snapshots.forget();
    return loadWhole(equipment, threadId);
  }

  /** From here on letters are looked for now and then. */
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
    const { clock, storeTimeoutMs, observation } = this.equipment;
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
