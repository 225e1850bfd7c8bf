import { SnapshotDamagedError } from "@colloquy/machine/storage";
import { messageOf } from "../boundary/thrown.ts";
import type { StoredSnapshot } from "../ports/store.ts";

/**
 * Reads the chunks of a snapshot. Reading is synchronous. If the store cannot read at once, a missing chunk is noted
 * and fetched, and the work is done again. So only the needed chunks of a long thread are fetched.
 */
export class SnapshotReader {
  readonly #stored: StoredSnapshot | null;
  /** The fetched chunks; null means all. Made with the first fetch, which most threads never need. */
  #fetched: Set<string | null> | null = null;
  #underWay: Map<string | null, Promise<void>> | null = null;
  #missed: string | null = null;

  constructor(stored: StoredSnapshot | null) {
    this.#stored = stored;
  }

  /** Returns the text of a chunk; undefined if it does not exist, or was not fetched. */
  readonly chunk = (id: string): string | undefined => {
    const text = this.#stored?.chunk(id);
    if (text === undefined) this.#missed ??= id;
    return text;
  };

  get isWhole(): boolean {
    return this.#stored?.fetch === undefined || this.#fetched?.has(null) === true;
  }

  /**
   * Fetches a chunk that was missed, or with null all that were not fetched. Returns false if that was done before:
   * then the chunk does not exist.
   *
   * @throws SnapshotDamagedError when the store fails
   */
  async fetch(chunk: string | null): Promise<boolean> {
    const stored = this.#stored;
    if (stored?.fetch === undefined) return false;
    const fetched = (this.#fetched ??= new Set<string | null>());
    const underWay = (this.#underWay ??= new Map<string | null, Promise<void>>());
    if (fetched.has(null) || fetched.has(chunk)) return false;
    try {
      let fetching = underWay.get(chunk);
      if (fetching === undefined) {
        fetching = stored.fetch(chunk);
        underWay.set(chunk, fetching);
      }
      await fetching;
      fetched.add(chunk);
      return true;
    } catch (thrown) {
      throw new SnapshotDamagedError(chunk ?? "*", `could not be fetched: ${messageOf(thrown)}`);
    } finally {
      underWay.delete(chunk);
    }
  }

  /**
   * Runs `work`, which reads the snapshot, and runs it again each time that a chunk it missed was fetched; so it must
   * be pure. A miss that `work` catches itself counts as well.
   *
   * @throws errors of `work`; SnapshotDamagedError
   */
  async over<Done>(work: () => Done): Promise<Done> {
    for (let misses = 1; ; misses++) {
      this.#missed = null;
      const done = attempted(work);
      const missed = this.#missedChunk();
      if (missed === null || !(await this.fetch(misses < missesMost ? missed : null))) return done();
    }
  }

  /** Returns the missed chunk. A method, since the compiler believes that the field is still null. */
  #missedChunk(): string | null {
    return this.#missed;
  }
}

/** The reader of all threads without a snapshot, of which nothing is read. */
export const noSnapshot: SnapshotReader = new SnapshotReader(null);

/** How many chunks are fetched one by one; from this miss on all are fetched at once. */
export const missesMost = 16;

const attempted = <Done>(work: () => Done): (() => Done) => {
  try {
    const done = work();
    return () => done;
  } catch (thrown) {
    return () => {
      throw thrown;
    };
  }
};
