import type { Entry, LaterEntry, Signal, State } from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import { loadAll, SnapshotDamagedError } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { load } from "../journal/opening.ts";
import { entryAt, readFrom } from "../journal/read-journal.ts";
import { followedSignals } from "./followed-signals.ts";

/** Called with an entry that is new, what it says of asks and turns, and the state after it. */
export type OnEntry = (entry: Entry, signals: readonly Signal[], state: State) => void;

/** The journal of a thread that another host writes, read on from where it was read to. */
export class FollowedJournal {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #onEntry: OnEntry;
  #state: State | null;
  #loaded: boolean;
  /** Whether some of the state may still lie in a store, as it does for a host that held the thread. */
  #isWhole: boolean;
  /** The newest entry that was read, as it was stored; null before one was. */
  #newest: { readonly seq: number; readonly text: string } | null = null;

  /** @param from a state that is known, behind which all is new; null: what is there when it is first read is not. */
  constructor(threadId: string, host: HostContext, from: State | null, onEntry: OnEntry) {
    this.#threadId = threadId;
    this.#host = host;
    this.#onEntry = onEntry;
    this.#state = from;
    this.#loaded = from !== null;
    this.#isWhole = from === null;
  }

  /** As far as it was read; null where there is no such thread. */
  get state(): State | null {
    return this.#state;
  }

  /**
   * Reads what is new. False where the store has lost what was read before, as when an older copy of it was put in its
   * place: then all is as if it were read for the first time.
   *
   * @param beforeShown called when what is new was fetched, and before it is reported.
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

  /** Whether the newest entry that was read stands where it stood. That nothing is left of a journal is noticed when it is opened. */
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
      // What the state was made from is gone meanwhile; the journal has it.
      // What only was not fetched yet is no damage.
      if (this.#isWhole) this.#host.observation.report(thrown, "snapshot");
      this.#isWhole = true;
      const shown = this.#state?.context.seq ?? known;
      this.#state = null;
      this.#readBehind(await this.#stored(0), -1, shown);
    }
  }

  /** @param shown the newest entry that was reported. */
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
    // Only entry 0 begins a thread, and any other was decoded as a later one.
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
