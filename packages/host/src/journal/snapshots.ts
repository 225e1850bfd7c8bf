import type { Entry, State } from "@colloquy/machine";
import { StoredChunks, takeSnapshot } from "@colloquy/machine/storage";
import type { HostContext } from "../context/host-context.ts";
import type { Lease } from "../ports/store.ts";
import type { Opened } from "./opening.ts";
import { SnapshotReader } from "./snapshot-reader.ts";

/**
 * Keeps the snapshot of an open thread: saved in the background, between turns, when enough was appended since the last
 * one. One that can't be saved is reported, and costs nothing but the reading that it would have spared.
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

  /** What the older turns of the state are read by. */
  get reader(): SnapshotReader {
    return this.#reader;
  }

  /** The thread was opened. */
  begin({ newest, snapshotSeq, chunks, reader }: Opened): void {
    this.#reader = reader;
    this.#newest = newest;
    this.#seq = snapshotSeq;
    this.#chunks = chunks;
  }

  /** The snapshot is of no use: the next one is due at once, and takes its place. */
  forget(): void {
    this.#seq = -1;
  }

  /** An entry was stored, and this is the state after it. */
  appended(lease: Lease, entry: Entry, state: State): void {
    this.#newest = entry;
    const { snapshotEvery } = this.#host;
    if (snapshotEvery === 0 || entry.seq - this.#seq < snapshotEvery) return;
    if (state.context.open !== null || this.#saving !== null) return;
    this.#saving = this.#save(lease, entry, state).finally(() => {
      this.#saving = null;
    });
  }

  /** The thread is let go: what is being saved is waited for, and what is new is saved where it is worth it. Never rejects. */
  async end(lease: Lease, state: State): Promise<void> {
    await this.#saving;
    const { snapshotEvery } = this.#host;
    const newest = this.#newest;
    if (snapshotEvery === 0 || newest === null || newest.seq - this.#seq <= snapshotEvery / 4) return;
    await this.#save(lease, newest, state);
  }

  /** Never rejects. */
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
