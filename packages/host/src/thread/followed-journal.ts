import type { Entry, LaterEntry, Signal, State } from "@colloquy/machine";
import { decodeEntry, describeDecodeError, fold, foldEntry, SnapshotDamagedError } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { Equipment } from "../equipment.ts";
import { JournalUnreadableError, StoreError } from "../errors.ts";
import { followedSignals } from "./followed-signals.ts";
import { load } from "./opening.ts";

/** Told of an entry that is new, what it says of asks and turns, and the state after it. */
export type EntryTold = (entry: Entry, signals: readonly Signal[], state: State) => void;

/** The journal of a thread that somebody else writes, read on from where it was read to. */
export class FollowedJournal {
  readonly #threadId: string;
  readonly #equipment: Equipment;
  readonly #told: EntryTold;
  #state: State | null;
  #loaded: boolean;

  /** @param from a state that is known, behind which all is new; null: what is there when it is first read is not. */
  constructor(threadId: string, equipment: Equipment, from: State | null, told: EntryTold) {
    this.#threadId = threadId;
    this.#equipment = equipment;
    this.#told = told;
    this.#state = from;
    this.#loaded = from !== null;
  }

  /** As far as it was read; null where there is no such thread. */
  get state(): State | null {
    return this.#state;
  }

  /** Reads what is new. @throws StoreError, JournalUnreadableError */
  async read(): Promise<void> {
    if (!this.#loaded) {
      this.#state = await load(this.#equipment, this.#threadId);
      this.#loaded = true;
      return;
    }
    const known = this.#state?.context.seq ?? -1;
    try {
      await this.#readBehind(known, known);
    } catch (thrown) {
      if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
      // What the state was made from is gone meanwhile; the journal has it.
      this.#equipment.observation.report(thrown, "snapshot");
      const told = this.#state?.context.seq ?? known;
      this.#state = null;
      await this.#readBehind(-1, told);
    }
  }

  /** @param told the newest entry that was told of. */
  async #readBehind(seq: number, told: number): Promise<void> {
    for (const [index, stored] of (await this.#stored(seq + 1)).entries()) {
      const entry = this.#decoded(stored, seq + 1 + index);
      const signals = this.#add(entry);
      if (entry.seq > told && this.#state !== null) this.#told(entry, signals, this.#state);
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
    const entry = decodeEntry(stored, seq);
    if (Either.isLeft(entry)) throw new JournalUnreadableError(this.#threadId, describeDecodeError(entry.left));
    if (entry.right.seq === seq) return entry.right;
    throw new JournalUnreadableError(this.#threadId, `entry ${entry.right.seq} stands where ${seq} should`);
  }

  async #stored(from: number): Promise<readonly unknown[]> {
    try {
      return await this.#equipment.store.read(this.#threadId, from);
    } catch (thrown) {
      throw new StoreError(this.#threadId, "read the journal", thrown);
    }
  }
}
