import type { StoredChunk } from "../thread/chunks.ts";
import { type Known, SnapshotDamagedError, type Written } from "./chunks.ts";

/**
 * The chunks that a store holds of a thread's snapshot, so that the next snapshot writes only what is new. A host
 * keeps one for each open thread: an empty one, or the one from `readSnapshot`.
 */
export class StoredChunks implements Known {
  /** Created with the first chunk, because most opened threads are short and have none. */
  #ids: WeakMap<object, string> | null = null;
  /** For each stored chunk, the ids of the chunks that it points to; null if it was not read. */
  readonly #pointsTo = new Map<string, readonly string[] | null>();
  readonly #unread = new Map<string, StoredChunk<unknown>>();
  #roots: readonly string[] = [];

  /** The number of known chunks. */
  get size(): number {
    return this.#pointsTo.size;
  }

  /**
   * Records that a snapshot was stored. Do not call it for one that could not be saved; a later snapshot writes it
   * again.
   */
  keep({ dropped, written }: { readonly dropped: readonly string[]; readonly written: Written }): void {
    for (const [node, id] of written.nodes) this.#note(node, id);
    for (const [id, pointsTo] of written.pointsTo) this.#pointsTo.set(id, pointsTo);
    for (const id of dropped) {
      this.#pointsTo.delete(id);
      this.#unread.delete(id);
    }
    this.#roots = written.roots;
  }

  /** Returns the id of the chunk that holds a node, or undefined. */
  idOf(node: object): string | undefined {
    const id = this.#ids?.get(node);
    return id !== undefined && this.#pointsTo.has(id) ? id : undefined;
  }

  /** Returns the chunks that a new snapshot would no longer use. */
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

  /** Records the chunks that a read snapshot points to. */
  begin(roots: readonly string[]): void {
    this.#roots = roots;
  }

  /** Records a node that is in the store. */
  meet(id: string, node: object, unread: StoredChunk<unknown> | null): void {
    this.#note(node, id);
    if (!this.#pointsTo.has(id)) this.#pointsTo.set(id, null);
    if (unread !== null) this.#unread.set(id, unread);
  }

  /** Records the chunks that a chunk points to. */
  read(id: string, pointsTo: readonly string[]): void {
    this.#unread.delete(id);
    if (this.#pointsTo.has(id)) this.#pointsTo.set(id, pointsTo);
  }

  #note(node: object, id: string): void {
    (this.#ids ??= new WeakMap<object, string>()).set(node, id);
  }

  #chunksIn(id: string): readonly string[] {
    try {
      // Reading it records the chunks that it points to.
      void this.#unread.get(id)?.nodes;
    } catch (thrown) {
      // An unreadable chunk points to nothing.
      if (!(thrown instanceof SnapshotDamagedError)) throw thrown;
    }
    return this.#pointsTo.get(id) ?? [];
  }
}
