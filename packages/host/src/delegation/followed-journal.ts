import { type Entry, type LaterEntry, type Signal, type State, turnNumbered } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { loadAll, SnapshotDamagedError } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { lookAt } from "../journal/opening.ts";
import { entryAt } from "../journal/read-journal.ts";

export type OnEntry = (entry: Entry, signals: readonly Signal[], state: State) => void;

/** The journal of a thread that another host writes. Each read continues after the last. */
export class FollowedJournal {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #onEntry: OnEntry;
  /** The state after the newest entry that was read; null if the thread does not exist. */
  state: State | null;
  #loaded: boolean;
  /** Whether all of the state is loaded. A state from a host that held the thread may still be partly in a snapshot. */
  #isWhole: boolean;
  /** The newest entry that was read, as it was stored; null if none was read. */
  #newest: { readonly seq: number; readonly text: string } | null = null;

  /** @param from a known state: all later entries are new. Null: the entries of the first read are not new. */
  constructor(threadId: string, host: HostContext, from: State | null, onEntry: OnEntry) {
    this.#threadId = threadId;
    this.#host = host;
    this.#onEntry = onEntry;
    this.state = from;
    this.#loaded = from !== null;
    this.#isWhole = from === null;
  }

  /**
   * Reads the new entries. Returns false if the store has lost earlier ones, for instance because it was replaced by an
   * older copy. Then the journal is read as if for the first time.
   *
   * @param beforeReport called when the new entries were fetched, before they are reported.
   * @throws StoreError, JournalUnreadableError
   */
  async read(beforeReport: () => Promise<void>): Promise<boolean> {
    if (!this.#loaded) {
      await this.#load();
      await beforeReport();
      return true;
    }
    const known = this.state?.context.seq ?? -1;
    const stored = await this.#stored(Math.max(known, 0));
    await beforeReport();
    if (known >= 0 && !(await this.#isUnchanged(stored[0], known))) {
      await this.#load();
      return false;
    }
    await this.#addNew(known < 0 ? stored : stored.slice(1), known);
    return true;
  }

  async #load(): Promise<void> {
    this.state = await lookAt(this.#host, this.#threadId, loadAll, "whole");
    this.#loaded = true;
    this.#newest = null;
  }

  /** Returns whether the newest read entry is still stored. True for an empty journal: its loss is noticed later. */
  async #isUnchanged(stored: unknown, seq: number): Promise<boolean> {
    if (stored === undefined) return (await this.#stored(0)).length === 0;
    const text = JSON.stringify(stored);
    const before = this.#newest;
    this.#newest = { seq, text };
    return before === null || before.seq !== seq || before.text === text;
  }

  async #addNew(stored: readonly unknown[], known: number): Promise<void> {
    try {
      if (!this.#isWhole && this.state !== null) this.state = loadAll(this.state);
      this.#isWhole = true;
      this.#addAll(stored, known + 1, known);
    } catch (thrown) {
      if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
      // The snapshot is gone, or not all of it was fetched yet; the journal has everything.
      const reported = this.state?.context.seq ?? known;
      this.state = null;
      this.#addAll(await this.#stored(0), 0, reported);
    }
  }

  /** Adds entries from a seq on. @param reported the seq of the newest entry that was reported. */
  #addAll(stored: readonly unknown[], first: number, reported: number): void {
    for (const [index, each] of stored.entries()) {
      const entry = this.#decoded(each, first + index);
      const signals = this.#add(entry);
      this.#newest = { seq: entry.seq, text: JSON.stringify(each) };
      if (entry.seq > reported && this.state !== null) this.#onEntry(entry, signals, this.state);
    }
  }

  #add(entry: Entry): readonly Signal[] {
    const before = this.state;
    if (before === null) {
      const first = fold([entry]);
      if (Either.isLeft(first)) throw new JournalUnreadableError(this.#threadId, `entry 0: ${first.left.reason}`);
      this.state = first.right;
      return [];
    }
    // Only entry 0 starts a thread, and any other was decoded as a later one.
    const later = entry as LaterEntry;
    const after = foldEntry(before, later);
    const signals = followedSignals(before, later, after);
    this.state = after;
    return signals;
  }

  #decoded(stored: unknown, seq: number): Entry {
    const entry = entryAt(stored, seq);
    if (Either.isRight(entry)) return entry.right;
    throw new JournalUnreadableError(this.#threadId, entry.left);
  }

  #stored(from: number): Promise<readonly unknown[]> {
    return this.#host.store.read(this.#threadId, from);
  }
}

/** Derives the signals about asks and turns of another host's entry from the states before and after it. */
const followedSignals = (before: State, { event, decided }: LaterEntry, after: State): readonly Signal[] => {
  const signals: Signal[] = [];
  const was = before.context;
  const is = after.context;
  if (event.type === "ask.received" && decided?.interrupts === true && was.open !== null)
    signals.push({ type: "turn.interrupted", turn: was.open.number, by: event.askId });
  for (const { askId, because } of droppedSince(before, after)) {
    if (because === "withdrawn") signals.push({ type: "ask.withdrawn", askId });
    if (because === "superseded")
      signals.push({ type: "ask.superseded", askId, by: event.type === "ask.received" ? event.askId : askId });
  }
  if (event.type === "ask.received" && is.queue.some(({ askId }) => askId === event.askId))
    signals.push({ type: "ask.queued", askId: event.askId, place: is.queue.length });
  if (event.type === "output.refused" && was.open !== null) {
    const { number: turn, step, refusedOutputs = [] } = was.open;
    const attempt = refusedOutputs.length + 1;
    signals.push({ type: "output.refused", turn, step, attempt, issues: event.issues.length });
  }
  signals.push(...joiningSignals(before, after), ...turnSignals(before, after));
  return frozenCopy(signals);
};

const joiningSignals = (before: State, after: State): readonly Signal[] => {
  const was = before.context.open;
  const is = after.context.open;
  if (was === null) return [];
  const turn = was.number;
  const joined = is?.number === turn ? is.joining.filter((ask) => !was.joining.some(isSame(ask))) : [];
  const answered = is?.number === turn ? is.asks : (turnNumbered(after, turn)?.asks ?? []);
  const step = is?.number === turn ? is.step : was.step;
  const delivered = was.joining.filter((ask) => answered.some(isSame(ask)));
  const returned = droppedSince(before, after).filter(({ because }) => because === "returned");
  return [
    ...joined.map(({ askId }): Signal => ({ type: "ask.joined", askId, turn })),
    ...delivered.map(({ askId }): Signal => ({ type: "ask.delivered", askId, turn, step })),
    ...returned.map(({ askId }): Signal => ({ type: "ask.returned", askId, turn })),
  ];
};

/** Returns the signals of turns that ended, and of the one that was opened; that one may have ended at once. */
const turnSignals = (before: State, after: State): readonly Signal[] => {
  const signals: Signal[] = [];
  const was = before.context.open;
  const is = after.context.open;
  const first = before.context.conversation.turns.length + 1;
  for (let number = first; number <= after.context.conversation.turns.length; number++) {
    const turn = turnNumbered(after, number);
    if (turn === undefined) continue;
    if (was?.number !== number)
      signals.push({ type: "turn.started", turn: number, askIds: turn.asks.map(({ askId }) => askId) });
    signals.push({ type: "turn.ended", turn: number, status: turn.outcome.status });
  }
  if (is !== null && is.number !== was?.number)
    signals.push({ type: "turn.started", turn: is.number, askIds: is.asks.map(({ askId }) => askId) });
  return signals;
};

const droppedSince = (before: State, after: State): State["context"]["dropped"] => {
  const known = before.context.dropped;
  return after.context.dropped === known ? [] : after.context.dropped.filter((ask) => !known.some(isSame(ask)));
};

const isSame =
  (ask: { readonly askId: string }) =>
  (other: { readonly askId: string }): boolean =>
    other.askId === ask.askId;
