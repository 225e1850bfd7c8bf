import * as Either from "fp-ts/lib/Either.js";
import { type ReadSnapshot, readSnapshot, type Snapshot } from "../../src/snapshot/snapshot.ts";

/** Keeps one snapshot, like a store. */
export class SnapshotShelf {
  #head = "";
  readonly #chunks = new Map<string, string>();
  /** The number of chunks ever written. */
  written = 0;
  /** The number of chunks read since the snapshot was. */
  reads = 0;

  get size(): number {
    return this.#chunks.size;
  }

  save(snapshot: Snapshot): void {
    for (const [id, text] of snapshot.chunks) this.#chunks.set(id, text);
    this.written += snapshot.chunks.size;
    this.#head = snapshot.head;
    for (const id of snapshot.dropped) {
      if (!this.#chunks.delete(id)) throw new Error(`chunk ${id} is dropped, and was not there`);
    }
  }

  read(): ReadSnapshot {
    this.reads = 0;
    const read = readSnapshot(this.#head, (id) => {
      this.reads++;
      return this.#chunks.get(id);
    });
    if (Either.isLeft(read)) throw new Error(read.left);
    return read.right;
  }
}
