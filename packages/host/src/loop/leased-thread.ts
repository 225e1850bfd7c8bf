import { askNamed, type Entry, type Refusal, type State } from "@colloquy/machine";
import { SnapshotDamagedError, StoredChunks, takeSnapshot } from "@colloquy/machine/storage";
import { Ask } from "../ask/ask.ts";
import { StoreError, ThreadClosedError, ThreadHeldError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { inboxOf } from "../delegation/followed-engine.ts";
import { type Follower, Following } from "../delegation/following.ts";
import { HeldInbox } from "../delegation/inbox.ts";
import { requestLease } from "../delegation/requested-lease.ts";
import { HeldLease } from "../journal/lease.ts";
import { loadWhole, openJournal, seenIn, type Opened } from "../journal/opening.ts";
import { missesMost, noSnapshot, type SnapshotReader } from "../journal/snapshot-reader.ts";
import type { Envelope, EventEnvelope, MadeEnvelope, Mailbox } from "../mailbox/mailbox.ts";
import { inTime } from "../ports/guarded-store.ts";
import type { Engine, LeaseLostError, Lease } from "../ports/store.ts";
import { TurnWriter } from "../turn-log/log.ts";
import { completeLog, replayOfOpen } from "../turn-log/replay.ts";
import { PartSink, StoredParts } from "../turn-log/sink.ts";

export interface Candidate extends Follower {
  readonly hasEnded: boolean;
  post(envelope: Envelope): void;
  handOver(): boolean;
  /** Ends the thread after it was idle for a while; called when something may have become idle. */
  rest(): void;
  end(reason: Error): void;
}

/** The state that a loop takes over from the previous one. */
export interface PreviousLoop {
  /** Resolves when that loop has ended; undefined where there was none. */
  readonly over: Promise<void> | undefined;
  /** The state in which it lost the thread, if its asks continue; else null. */
  readonly lost: State | null;
}

/**
 * Takes the lease of a thread, or follows the host that has it until the lease is free: meanwhile the mailbox is diverted
 * to the inbox. Null where the loop ended first, as it does when there is nothing left to follow.
 *
 * @throws ThreadHeldError where it can't be followed, and its holder does not release it; StoreError, JournalUnreadableError
 */
export const leaseThread = async (candidate: Candidate, mailbox: Mailbox): Promise<LeasedThread | null> => {
  const { threadId, host, lost } = candidate;
  const { store } = host;
  if (store.engine !== undefined) return followEngine(store.engine, candidate, mailbox);
  const onLost = (error: LeaseLostError): void => candidate.end(error);
  // After a lost lease the journal is read first: another host may have answered the asks meanwhile.
  const lease = lost === null ? await HeldLease.take(threadId, host, onLost) : null;
  if (lease !== null) return new LeasedThread(lease, candidate, false);
  if (candidate.hasEnded) return null;
  if (store.inbox === undefined || !mayFollow(host)) {
    return new LeasedThread(await requestLease(threadId, host, onLost, () => !candidate.hasEnded), candidate, false);
  }
  const following = new Following(candidate, store.inbox, null, () => candidate.end(new ThreadHeldError(threadId)));
  mailbox.divert(following);
  const followed = await following.untilHeld(onLost);
  if (followed === null) return null;
  mailbox.divert(null);
  for (const ask of candidate.asks.all()) ask.parts.endWait();
  const { posted, others } = following.takeAll();
  mailbox.posted = posted;
  for (const envelope of others) mailbox.add(envelope);
  return new LeasedThread(followed, candidate, true);
};

/** An engine works on it, and is asked; until nothing more is wanted of it here. */
const followEngine = async (engine: Engine, candidate: Candidate, mailbox: Mailbox): Promise<null> => {
  const over = (): void => candidate.end(new ThreadClosedError(candidate.threadId));
  const following = new Following(candidate, inboxOf(engine), engine, over);
  mailbox.divert(following);
  await following.untilHeld(over);
  return null;
};

/** Whether asks on a thread that another host holds may be posted to its inbox. */
export const mayFollow = ({ store, whenHeld }: HostContext): boolean =>
  store.inbox !== undefined && whenHeld === "enqueue";

/** A thread of which this host has the lease: the lease itself, and what only its holder does with the store. */
export class LeasedThread {
  /** Whether the thread of another host was followed here before. */
  readonly hasFollowed: boolean;
  readonly held: HeldLease;
  readonly #candidate: Candidate;
  readonly #inbox: HeldInbox | null;
  readonly #snapshots: Snapshots;
  readonly #sink: PartSink | null;
  readonly #writer: TurnWriter;
  /** How many reads since the last entry missed a chunk of the snapshot. */
  #misses = 0;

  constructor(lease: HeldLease, candidate: Candidate, hasFollowed: boolean) {
    const { host } = candidate;
    const { inbox } = host.store;
    this.#candidate = candidate;
    this.held = lease;
    this.hasFollowed = hasFollowed;
    this.#inbox = inbox === undefined ? null : new HeldInbox(inbox, lease.lease, host, candidate);
    this.#snapshots = new Snapshots(host);
    const { threadId, token } = lease.lease;
    this.#sink = host.partLogging === null ? null : new PartSink(host.partLogging, lease.lease);
    this.#writer = new TurnWriter(threadId, host.logs, token, this.#sink);
  }

  get reader(): SnapshotReader {
    return this.#snapshots.reader;
  }

  /** Returns the inbox items as envelopes, and takes those of this host out of `own`. @throws StoreError */
  async inboxItems(own: Map<string, Envelope> | null): Promise<readonly Envelope[]> {
    return (await this.#inbox?.collect(own ?? new Map<string, Envelope>())) ?? [];
  }

  /** Reports a refusal. Items that repeat a new ask are refused first: one of them could still open a turn. */
  refuse(envelope: EventEnvelope | MadeEnvelope, refusal: Refusal, state: State): void {
    const { sender } = envelope;
    const isAsk = "event" in envelope && envelope.event.type === "ask.received" && sender instanceof Ask;
    // Either may mean that the thread knows the askId, or not: the first ask of it may be in the inbox.
    const mayBeKnown = refusal.kind === "stale" || refusal.kind === "invalid";
    const isNew = isAsk && (!mayBeKnown || askNamed(state, sender.askId) === null);
    if (isNew && this.#inbox !== null) void this.#refuseAsk(this.#inbox, sender, refusal, state);
    else sender?.refused(refusal, state);
  }

  async #refuseAsk(inbox: HeldInbox, ask: Ask, refusal: Refusal, state: State): Promise<void> {
    try {
      await inbox.refuseAsk(ask.askId, refusal);
      // When a loop ends, it fails its asks or carries them over to the next loop.
      if (this.#candidate.hasEnded) return;
      const { host } = this.#candidate;
      await seenIn(host, { state, reader: this.reader }, (known) => ask.refused(refusal, known), "some");
    } catch (thrown) {
      // The inbox throws only errors.
      if (!this.#candidate.hasEnded) ask.fail(thrown as Error);
    }
    this.#candidate.rest();
  }

  /** The state of the thread; null when it is new. @throws JournalUnreadableError, StoreError, LeaseLostError */
  async open(): Promise<State | null> {
    const { host, threadId, asks } = this.#candidate;
    const opened = await openJournal(host, threadId, this.held.lease);
    if (opened !== null) this.#snapshots.begin(opened);
    // Another host may have deleted the thread, with what is kept here of its turns.
    else host.logs.forget(threadId);
    const turn = opened?.state.context.open ?? null;
    if (turn !== null) await this.#knowShown(turn);
    asks.recordWith(this.#writer);
    return opened?.state ?? null;
  }

  /** Loads the parts that were shown of the open turn: from the store, or else from the journal. Never rejects. */
  async #knowShown(open: NonNullable<State["context"]["open"]>): Promise<void> {
    const { host, threadId } = this.#candidate;
    this.#writer.begin(
      open.number,
      open.asks.map(({ askId }) => askId),
    );
    if (host.partLogging !== null) await new StoredParts(threadId, host.partLogging, host.logs).read(open.number);
    const log = this.#writer.log(open.number);
    if (log.end === 0) completeLog(log, replayOfOpen(open));
  }

  /**
   * The state to continue with after a chunk of the snapshot could not be read: the same one, where the chunk had only to be
   * fetched; otherwise one that is folded from the whole journal, and the snapshot is given up.
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

  /** Calls `work` with the state. If a chunk of its snapshot can't be read, reads the journal and calls `work` again. */
  async withWholeState<Done>(
    state: State,
    known: (state: State) => void,
    work: (state: State) => Promise<Done>,
  ): Promise<Done> {
    try {
      return await work(state);
    } catch (thrown) {
      if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
      const read = await this.openAgain(thrown, state);
      known(read);
      return this.withWholeState(read, known, work);
    }
  }

  watch(): void {
    this.#inbox?.watch();
  }

  /** Called when the thread is idle and no turn is open. */
  rest(): void {
    this.#writer.end();
  }

  appended(entry: Entry, state: State): void {
    this.#misses = 0;
    this.#snapshots.appended(this.held.lease, entry, state);
  }

  /**
   * Gives up the lease, after a last snapshot and the answers to inbox items were written. Never rejects.
   *
   * @param state null where it may be wrong: then no snapshot is written.
   * @param isOver whether nothing is outstanding: then the thread is not abandoned.
   */
  async end(state: State | null, isOver: boolean): Promise<void> {
    const { clock, storeTimeoutMs, observation } = this.#candidate.host;
    this.#inbox?.stop();
    this.#writer.end();
    try {
      // Where the store did not answer an append in time, nothing more is written to it.
      if (!this.held.isUnanswered) await inTime(clock, storeTimeoutMs, "closing", () => this.#finish(state));
    } catch (thrown) {
      observation.report(new StoreError(this.held.lease.threadId, "take what was left to write", thrown), "store");
    }
    this.held.isOver = isOver;
    await this.held.end();
  }

  async #finish(state: State | null): Promise<void> {
    await this.#sink?.end();
    if (state !== null) await this.#snapshots.end(this.held.lease, state);
    await this.#inbox?.end();
  }
}

/** Keeps the snapshot of an open thread, saved between turns. A failed save costs only later reading. */
class Snapshots {
  readonly #host: HostContext;
  /** Null until a snapshot is there: most threads are too short for one. */
  #chunks: StoredChunks | null = null;
  /** The newest entry that a snapshot covers, or was to cover. */
  #seq = -1;
  #newest: Entry | null = null;
  #saving: Promise<void> | null = null;
  /** Reads the older turns of the state. */
  reader: SnapshotReader = noSnapshot;

  constructor(host: HostContext) {
    this.#host = host;
  }

  begin({ newest, snapshotSeq, chunks, reader }: Opened): void {
    this.reader = reader;
    this.#newest = newest;
    this.#seq = snapshotSeq;
    this.#chunks = chunks;
  }

  /** Makes the next snapshot due at once, since the present one is useless. */
  forget(): void {
    this.#seq = -1;
  }

  appended(lease: Lease, entry: Entry, state: State): void {
    this.#newest = entry;
    const { snapshotEvery } = this.#host;
    if (snapshotEvery === 0 || entry.seq - this.#seq < snapshotEvery) return;
    if (state.context.open !== null || this.#saving !== null) return;
    this.#saving = this.#save(lease, entry, state).finally(() => {
      this.#saving = null;
    });
  }

  /** Waits for a pending save, and saves the newest entries if that is worth it. Never rejects. */
  async end(lease: Lease, state: State): Promise<void> {
    await this.#saving;
    const { snapshotEvery } = this.#host;
    const newest = this.#newest;
    if (snapshotEvery === 0 || newest === null || newest.seq - this.#seq <= snapshotEvery / 4) return;
    await this.#save(lease, newest, state);
  }

  /** Saves a snapshot. Never rejects. */
  async #save(lease: Lease, newest: Entry, state: State): Promise<void> {
    try {
      this.#seq = newest.seq;
      const stored = (this.#chunks ??= new StoredChunks());
      const snapshot = await this.reader.over(() => takeSnapshot(state, newest, stored));
      const { threadId, seq, head, chunks, dropped } = snapshot;
      await this.#host.store.saveSnapshot(lease, { threadId, seq, head, chunks, dropped });
      stored.keep(snapshot);
    } catch (thrown) {
      this.#host.observation.report(thrown, "snapshot");
    }
  }
}
