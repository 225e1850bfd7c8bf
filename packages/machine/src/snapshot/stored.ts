import type { StoredChunk } from "../thread/chunks.ts";
import { type Known, SnapshotDamagedError, type Written } from "./chunks.ts";

/**
 * What a store holds of a thread's snapshot, so that the next one writes only what is new. A host keeps one for each
 * thread that it has open: an empty one, or that which `readSnapshot` gives.
 */
export class StoredChunks implements Known {
  /** Made with the first chunk: most threads that are opened are short, and have none. */
  #ids: WeakMap<object, string> | null = null;
  /** By the ids of all chunks that are stored, those of the chunks that each points to; null where it was not read. */
  readonly #pointsTo = new Map<string, readonly string[] | null>();
  readonly #unread = new Map<string, StoredChunk<unknown>>();
  #roots: readonly string[] = [];

  /** How many chunks are known to be there. */
  get size(): number {
    return this.#pointsTo.size;
  }

  /** Tells that a snapshot is in the store. Not to be called for one that could not be saved: it is only taken again. */
  keep({ dropped, written }: { readonly dropped: readonly string[]; readonly written: Written }): void {
    for (const [node, id] of written.nodes) this.#note(node, id);
    for (const [id, pointsTo] of written.pointsTo) this.#pointsTo.set(id, pointsTo);
    for (const id of dropped) {
      this.#pointsTo.delete(id);
      this.#unread.delete(id);
    }
    this.#roots = written.roots;
  }

  /** The id of the chunk that holds a node; undefined where none does. */
  idOf(node: object): string | undefined {
    const id = this.#ids?.get(node);
    return id !== undefined && this.#pointsTo.has(id) ? id : undefined;
  }

  /** The chunks that a snapshot would leave without use. */
  leftBy(written: Written): readonly string[] {
    const stays = new Set([...written.nodes.values(), ...written.pointsTo.keys()]);
    const left: string[] = [];
    const visit = (id: string): void => {
      if (stays.has(id)) return;
      stays.add(id);
      left.push(id);
      this.#chunksIn(id).forEach(visit);
    };
    this.#roots.forEach(visit);
    return left;
  }

  /** Tells what a snapshot that was read points to. */
  begin(roots: readonly string[]): void {
    this.#roots = roots;
  }

  /** Tells of a node that is in the store. */
  meet(id: string, node: object, unread: StoredChunk<unknown> | null): void {
    this.#note(node, id);
    if (!this.#pointsTo.has(id)) this.#pointsTo.set(id, null);
    if (unread !== null) this.#unread.set(id, unread);
  }

  /** Tells what a chunk points to. */
  read(id: string, pointsTo: readonly string[]): void {
    this.#unread.delete(id);
    if (this.#pointsTo.has(id)) this.#pointsTo.set(id, pointsTo);
  }

  #note(node: object, id: string): void {
    (this.#ids ??= new WeakMap<object, string>()).set(node, id);
  }

  #chunksIn(id: string): readonly string[] {
    try {
      // Reading it notes what it points to.
      void this.#unread.get(id)?.nodes;
    } catch (thrown) {
      // What can't be read any more points to nothing.
      if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
    }
    return this.#pointsTo.get(id) ?? [];
  }
}
