import type { Entry, LaterEntry, Signal, State } from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { loadAll, SnapshotDamagedError } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { load } from "../journal/opening.ts";
import { entryAt, readFrom } from "../journal/read-journal.ts";
import { followedSignals } from "./followed-signals.ts";

/** Called with each new entry, its signals about asks and turns, and the state after it. */
export type OnEntry = (entry: Entry, signals: readonly Signal[], state: State) => void;

/** The journal of a thread that another host writes. Each read continues after the last. */
export class FollowedJournal {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #onEntry: OnEntry;
  #state: State | null;
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
    this.#state = from;
    this.#loaded = from !== null;
    this.#isWhole = from === null;
  }

  /** The state after the newest entry that was read; null if the thread does not exist. */
  get state(): State | null {
    return this.#state;
  }

  /**
   * Reads the new entries. Returns false if the store has lost earlier ones, for instance because it was replaced by an
   * older copy. Then the journal is read as if for the first time.
   *
   * @param beforeShown called when the new entries were fetched, before they are reported.
   * @throws StoreError, JournalUnreadableError
   */
  async read(beforeShown: () => Promise<void>): Promise<boolean> {
    if (!this.#loaded) {
      await this.#load();
      await beforeShown();
      return true;
    }
    const known = this.#state?.context.seq ?? -1;
    const stored = await this.#stored(Math.max(known, 0));
    await beforeShown();
    if (known < 0) await this.#readNew(stored, known);
    else if (await this.#isAsItWas(stored[0], known)) await this.#readNew(stored.slice(1), known);
    else {
      await this.#load();
      return false;
    }
    return true;
  }

  async #load(): Promise<void> {
    this.#state = await load(this.#host, this.#threadId);
    this.#loaded = true;
    this.#isWhole = true;
    this.#newest = null;
  }

  /**
   * Returns whether the newest entry that was read is still at its place. An empty journal counts as unchanged: that
   * loss is noticed when the thread is opened.
   */
  async #isAsItWas(there: unknown, seq: number): Promise<boolean> {
    if (there === undefined) return (await this.#stored(0)).length === 0;
    const text = JSON.stringify(there);
    const before = this.#newest;
    this.#newest = { seq, text };
    return before === null || before.seq !== seq || before.text === text;
  }

  async #readNew(stored: readonly unknown[], known: number): Promise<void> {
    try {
      if (!this.#isWhole && this.#state !== null) this.#state = loadAll(this.#state);
      this.#isWhole = true;
      this.#readBehind(stored, known, known);
    } catch (thrown) {
      if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
      // The snapshot of the state is gone meanwhile; the journal has everything. Chunks that were only not fetched yet
      // are not damage.
      if (this.#isWhole) this.#host.observation.report(thrown, "snapshot");
      this.#isWhole = true;
      const shown = this.#state?.context.seq ?? known;
      this.#state = null;
      this.#readBehind(await this.#stored(0), -1, shown);
    }
  }

  /** @param shown the seq of the newest entry that was reported. */
  #readBehind(behind: readonly unknown[], seq: number, shown: number): void {
    for (const [index, stored] of behind.entries()) {
      const entry = this.#decoded(stored, seq + 1 + index);
      const signals = this.#add(entry);
      this.#newest = { seq: entry.seq, text: JSON.stringify(stored) };
      if (entry.seq > shown && this.#state !== null) this.#onEntry(entry, signals, this.#state);
    }
  }

  #add(entry: Entry): readonly Signal[] {
    const before = this.#state;
    if (before === null) {
      const begun = fold([entry]);
      if (Either.isLeft(begun)) throw new JournalUnreadableError(this.#threadId, `entry 0: ${begun.left.reason}`);
      this.#state = begun.right;
      return [];
    }
    // Only entry 0 starts a thread, and any other was decoded as a later one.
    const later = entry as LaterEntry;
    const after = foldEntry(before, later);
    const signals = followedSignals(before, later, after);
    this.#state = after;
    return signals;
  }

  #decoded(stored: unknown, seq: number): Entry {
    const entry = entryAt(stored, seq);
    if (Either.isRight(entry)) return entry.right;
    throw new JournalUnreadableError(this.#threadId, entry.left);
  }

  #stored(from: number): Promise<readonly unknown[]> {
    return readFrom(this.#host.store, this.#threadId, from);
  }
}
