/**
 * A full chunk of a list that lies in a store, and is read when somebody first looks into it. To `JSON.stringify` it is
 * what it holds, so a list with such chunks is plain JSON all the same; `loadAll` makes one without them.
 */
export class StoredChunk<Node> {
  /** A member of its own, which makes `structuredClone` refuse a state that it would copy without what lies in the store. */
  readonly toJSON: () => readonly Node[] = () => this.nodes;
  #nodes: readonly Node[] | null = null;
  #read: (() => readonly Node[]) | null;

  /** `read` is called at most once, unless it throws. */
  constructor(read: () => readonly Node[]) {
    this.#read = read;
  }

  /** What it holds: the same list each time. Throws what `read` throws. */
  get nodes(): readonly Node[] {
    if (this.#nodes === null) {
      this.#nodes = this.#read?.() ?? [];
      this.#read = null;
    }
    return this.#nodes;
  }
}
