import type { Entry, State } from "@colloquy/machine";
import { StoredChunks, takeSnapshot } from "@colloquy/machine/storage";
import type { HostContext } from "../context/host-context.ts";
import type { Lease } from "../ports/store.ts";
import type { Opened } from "./opening.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

/**
 * Keeps the snapshot of an open thread. It is saved in the background, between turns, when enough entries were appended
 * since the last one. A failed save is reported, and costs only the reading that it would have saved.
 */
export class Snapshots {
  readonly #host: HostContext;
  #chunks = new StoredChunks();
  /** The newest entry that a snapshot covers, or was to cover. */
  #seq = -1;
  #newest: Entry | null = null;
  #saving: Promise<void> | null = null;
  #reader = new SnapshotReader(null);

  constructor(host: HostContext) {
    this.#host = host;
  }

  /** Reads the older turns of the state. */
  get reader(): SnapshotReader {
    return this.#reader;
  }

  /** Starts with a thread that was opened. */
  begin({ newest, snapshotSeq, chunks, reader }: Opened): void {
    this.#reader = reader;
    this.#newest = newest;
    this.#seq = snapshotSeq;
    this.#chunks = chunks;
  }

  /** Makes the next snapshot due at once, since the present one is useless. */
  forget(): void {
    this.#seq = -1;
  }

  /** Notes an entry that was stored, with the state after it, and saves a snapshot if one is due. */
  appended(lease: Lease, entry: Entry, state: State): void {
    this.#newest = entry;
    const { snapshotEvery } = this.#host;
    if (snapshotEvery === 0 || entry.seq - this.#seq < snapshotEvery) return;
    if (state.context.open !== null || this.#saving !== null) return;
    this.#saving = this.#save(lease, entry, state).finally(() => {
      this.#saving = null;
    });
  }

  /**
   * Ends with a thread that is released: waits for a pending save, and saves new entries if that is worth it. Never
   * rejects.
   */
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
      const snapshot = await this.#reader.over(() => takeSnapshot(state, newest, this.#chunks));
      const { threadId, seq, head, chunks, dropped } = snapshot;
      await this.#host.store.saveSnapshot(lease, { threadId, seq, head, chunks, dropped });
      this.#chunks.keep(snapshot);
    } catch (thrown) {
      this.#host.observation.report(thrown, "snapshot");
    }
  }
}
