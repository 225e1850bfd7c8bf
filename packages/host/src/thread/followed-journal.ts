import type { Entry, LaterEntry, Signal, State } from "@colloquy/machine";
import { decodeEntry, describeDecodeError, fold, foldEntry, SnapshotDamagedError } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { Equipment } from "../equipment.ts";
import { JournalUnreadableError, StoreError } from "../errors.ts";
import { followedSignals } from "./followed-signals.ts";
import { load, loadWhole } from "./opening.ts";

/** The journal of a thread that somebody else writes, read on from where it was read to. */
export class FollowedJournal {
  readonly #threadId: string;
  readonly #equipment: Equipment;
  readonly #told: (entry: Entry, signals: readonly Signal[] | null, state: State) => void;
  #state: State | null = null;
  #loaded = false;

  /** @param told is told of each entry that is new, what it says of asks and turns (null: only the state tells), and the state after it. */
  constructor(
    threadId: string,
    equipment: Equipment,
    told: (entry: Entry, signals: readonly Signal[] | null, state: State) => void,
  ) {
    this.#threadId = threadId;
    this.#equipment = equipment;
    this.#told = told;
  }

  /** As far as it was read; null where there is no such thread. */
  get state(): State | null {
    return this.#state;
  }

  /** Reads what is new. The first time all is, and nobody is told of it. @throws StoreError, JournalUnreadableError */
  async read(): Promise<void> {
    if (!this.#loaded) {
      this.#state = await load(this.#equipment, this.#threadId);
      this.#loaded = true;
      return;
    }
    const from = this.#state === null ? 0 : this.#state.context.seq + 1;
    for (const [index, stored] of (await this.#stored(from)).entries()) {
      const entry = this.#decoded(stored, from + index);
      try {
        this.#add(entry);
      } catch (thrown) {
        if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
        // What the state was made from is gone meanwhile; the journal has it.
        this.#equipment.observation.report(thrown, "snapshot");
        this.#state = await loadWhole(this.#equipment, this.#threadId);
        this.#told(entry, null, this.#state);
        return;
      }
    }
  }

  #add(entry: Entry): void {
    const before = this.#state;
    if (before === null) {
      const begun = fold([entry]);
      if (Either.isLeft(begun)) throw new JournalUnreadableError(this.#threadId, `entry 0: ${begun.left.reason}`);
      this.#state = begun.right;
      this.#told(entry, [], begun.right);
      return;
    }
    // Only entry 0 begins a thread, and any other was decoded as a later one.
    const later = entry as LaterEntry;
    const after = foldEntry(before, later);
    const signals = followedSignals(before, later, after);
    this.#state = after;
    this.#told(entry, signals, after);
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
