import type { Store } from "@colloquy/host";
import { withRedactions } from "@colloquy/host/store";
import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { decodeEntry, describeDecodeError, fold, foldEntry } from "@colloquy/machine/journal";
import { asksModel, rowOf } from "../projections/timeline-row.ts";
import type { TimelineRow } from "../wire/wire.ts";

/** A thread that was read, valid until it changes. */
export interface ReadThread {
  readonly entries: readonly Entry[];
  readonly rows: readonly TimelineRow[];
  /** The state after the newest entry. */
  readonly state: State;
  /** Returns the state after an existing entry. */
  at(seq: number): State;
  /** Returns the entry that requested the newest call, up to an entry; null if there is none. */
  callAt(seq: number): number | null;
}

/** The reason why a thread cannot be shown. */
export class UnreadableThreadError extends Error {
  override readonly name = "UnreadableThreadError";
}

/**
 * Reads threads; of a known thread, only the new entries. Takes no lease. Caches the last few threads.
 *
 * @returns null for a thread that does not exist. Rejects with `UnreadableThreadError`.
 */
export const threadReader = (store: Store): ((threadId: string) => Promise<ReadThread | null>) => {
  const kept = new Map<string, Promise<Reading | null>>();
  return (threadId) => {
    // One after the other: a page makes many requests at once, and the first of them reads for all.
    const known = kept.get(threadId)?.catch(() => null) ?? Promise.resolve(null);
    const reading = known.then(
      async (before) => (await before?.continued(store)) ?? (await Reading.begun(store, threadId)),
    );
    kept.delete(threadId);
    kept.set(threadId, reading);
    for (const oldest of [...kept.keys()].slice(0, -keptMax)) kept.delete(oldest);
    return reading;
  };
};

const keptMax = 4;

/** The distance of stored states; others are folded from them, as all would take far more room. */
const statesEvery = 256;

class Reading implements ReadThread {
  readonly #threadId: string;
  readonly entries: Entry[] = [];
  readonly rows: TimelineRow[] = [];
  readonly #states: State[] = [];
  readonly #calls: number[] = [];
  #state: State | null = null;

  private constructor(threadId: string) {
    this.#threadId = threadId;
  }

  static async begun(store: Store, threadId: string): Promise<Reading | null> {
    const stored = await store.read(threadId);
    if (stored.length === 0) return null;
    const reading = new Reading(threadId);
    reading.#add(withRedactions(stored.map(decoded)));
    return reading;
  }

  /** Returns null if the thread must be read from the start: it was redacted, deleted, or created again. */
  async continued(store: Store): Promise<Reading | null> {
    const last = this.entries.length - 1;
    const stored = await store.read(this.#threadId, last);
    const [same, ...news] = stored;
    if (JSON.stringify(same) !== JSON.stringify(this.entries[last])) return null;
    if (news.length === 0) return this;
    const entries = news.map((entry, index) => decoded(entry, last + 1 + index));
    if (entries.some(({ event }) => event.type === "thread.redacted")) return null;
    this.#add(entries);
    return this;
  }

  get state(): State {
    if (this.#state === null) throw new Error("a thread that was read has a state");
    return this.#state;
  }

  at(seq: number): State {
    const begin = Math.min(Math.floor(seq / statesEvery), this.#states.length - 1);
    const first = this.#states[begin] ?? this.state;
    return (
      this.entries
        .slice(begin * statesEvery + 1, seq + 1)
        // Only the first entry begins a thread, and it is not among these.
        .reduce((state, entry) => foldEntry(state, entry as LaterEntry), first)
    );
  }

  callAt(seq: number): number | null {
    return this.#calls.findLast((call) => call <= seq) ?? null;
  }

  #add(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const before = this.#state;
      const after = before === null ? this.#begin(entry) : this.#follow(before, entry);
      if (entry.seq % statesEvery === 0) this.#states.push(after);
      if (asksModel(before, after)) this.#calls.push(entry.seq);
      this.entries.push(entry);
      this.rows.push(rowOf(entry, before, after));
      this.#state = after;
    }
  }

  #begin(entry: Entry): State {
    const begun = fold([entry]);
    if ("left" in begun) throw new UnreadableThreadError(`entry ${begun.left.seq}: ${begun.left.reason}`);
    return begun.right;
  }

  #follow(before: State, entry: Entry): State {
    try {
      // `foldEntry` also refuses a second `thread.started`.
      return foldEntry(before, entry as LaterEntry);
    } catch (thrown) {
      throw new UnreadableThreadError(`entry ${entry.seq}: ${thrown instanceof Error ? thrown.message : "unreadable"}`);
    }
  }
}

const decoded = (stored: unknown, index: number): Entry => {
  const entry = decodeEntry(stored, index);
  if ("left" in entry) throw new UnreadableThreadError(describeDecodeError(entry.left));
  return entry.right;
};
