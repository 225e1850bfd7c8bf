import { type Chunks, chunkSize, type Nested, nodesIn, StoredChunk } from "../thread/chunks.ts";
import { digestOf } from "../thread/make-message.ts";
import { type Json, frozen } from "../thread/plain-data.ts";

/**
 * A list in a snapshot: its newest elements, and the ids of the chunks that hold the others, level by level from 1.
 */
export type PackedList = readonly Json[] | { readonly newest: readonly Json[]; readonly chunks: readonly string[][] };

export interface ElementWriter<Element> {
  /** The prefix of the chunks' ids, which distinguishes them from those of other lists. */
  readonly name: string;
  /** Packs elements, given the index of the first. */
  readonly pack: (first: number, elements: readonly Element[]) => readonly Json[];
}

export type ElementReader<Element> = (first: number, packed: readonly Json[]) => readonly Element[];

/** The result of writing a snapshot, for bookkeeping of what is stored. */
export interface Written {
  /** New chunks, by id. */
  readonly chunks: ReadonlyMap<string, string>;
  /** The ids of written or stored nodes, and the ids of the chunks that each chunk points to. */
  readonly nodes: ReadonlyMap<object, string>;
  readonly pointsTo: ReadonlyMap<string, readonly string[]>;
  readonly roots: readonly string[];
}

/** Knows which nodes a store has. */
export interface Known {
  readonly idOf: (node: object) => string | undefined;
}

/** Writes lists, and those of their chunks that are not stored yet. The id of a chunk is derived from its text. */
export class ListWriter implements Written {
  readonly #known: Known;
  readonly chunks = new Map<string, string>();
  readonly nodes = new Map<object, string>();
  readonly pointsTo = new Map<string, readonly string[]>();
  /** The chunks that the current list or chunk points to. */
  roots: string[] = [];

  constructor(known: Known) {
    this.#known = known;
  }

  list<Element>({ levels }: Chunks<Element>, elements: ElementWriter<Element>): PackedList {
    let first = 0;
    const chunks: string[][] = [];
    for (let level = levels.length - 1; level > 0; level--) {
      const ids = (levels[level] ?? []).map((node, index) =>
        this.#node(node, level, first + index * chunkSize ** level, elements),
      );
      first += ids.length * chunkSize ** level;
      chunks.unshift(ids);
    }
    // At level 0 a node is an element.
    const newest = elements.pack(first, (levels[0] ?? []) as readonly Element[]);
    return chunks.length === 0 ? newest : { newest, chunks };
  }

  /** Writes an object once, as long as it is the same object. */
  chunk(node: object, name: string, text: () => string): string {
    const id = this.nodes.get(node) ?? this.#known.idOf(node) ?? this.#write(name, text);
    this.nodes.set(node, id);
    this.roots.push(id);
    return id;
  }

  #node<Element>(node: Nested<Element>, level: number, first: number, elements: ElementWriter<Element>): string {
    const { name, pack } = elements;
    // Above level 0 a node is a list, here or in a store.
    return this.chunk(node as object, `${name}${first}.${level}`, () => {
      const nodes = nodesIn(node);
      if (level === 1) return JSON.stringify(pack(first, nodes as readonly Element[]));
      const size = chunkSize ** (level - 1);
      return JSON.stringify(nodes.map((inner, index) => this.#node(inner, level - 1, first + index * size, elements)));
    });
  }

  #write(name: string, text: () => string): string {
    const outer = this.roots;
    this.roots = [];
    const written = text();
    const id = `${name}.${digestOf(written)}`;
    this.chunks.set(id, written);
    this.pointsTo.set(id, this.roots);
    this.roots = outer;
    return id;
  }
}

/** Is notified of everything that a reader finds in a store. */
export interface Finder {
  /** Reports a node; `unread` is the same node if it was not read yet. */
  readonly meet: (id: string, node: object, unread: StoredChunk<unknown> | null) => void;
  /** Reports the chunks that a chunk points to, once it was read. */
  readonly read: (id: string, pointsTo: readonly string[]) => void;
}

/** Reads lists at once, and their chunks on first access. */
export class ListReader {
  readonly #chunk: (id: string) => string | undefined;
  readonly #finder: Finder;
  /** The chunks that the current list or chunk points to. */
  roots: string[] = [];

  constructor(chunk: (id: string) => string | undefined, finder: Finder) {
    this.#chunk = chunk;
    this.#finder = finder;
  }

  list<Element>(packed: Json, unpack: ElementReader<Element>): Chunks<Element> {
    // The text was checked against its digest, so it has the written shape.
    const { newest, chunks } = (Array.isArray(packed) ? { newest: packed, chunks: [] } : packed) as {
      readonly newest: readonly Json[];
      readonly chunks: readonly (readonly string[])[];
    };
    const levels: (readonly Nested<Element>[])[] = [];
    let first = 0;
    for (let level = chunks.length; level > 0; level--) {
      const ids = chunks[level - 1] ?? [];
      const size = chunkSize ** level;
      const from = first;
      levels.unshift(ids.map((id, index) => this.#node(id, level, from + index * size, unpack)));
      first += ids.length * size;
    }
    return { length: first + newest.length, levels: [unpack(first, newest), ...levels] };
  }

  /** Reads a chunk at once and converts it. The result is the object that identifies the chunk from then on. */
  chunk<Value extends object>(id: string, made: (packed: Json) => Value): Value {
    this.roots.push(id);
    const value = this.#made(id, made);
    this.#finder.meet(id, value, null);
    return value;
  }

  #made<Value extends object>(id: string, made: (packed: Json) => Value): Value {
    const outer = this.roots;
    this.roots = [];
    try {
      const text = this.#chunk(id);
      if (text === undefined) throw new SnapshotDamagedError(id, "is not there");
      if (!id.endsWith(`.${digestOf(text)}`)) throw new SnapshotDamagedError(id, "is not what was written");
      const packed: unknown = JSON.parse(text);
      // The result of JSON.parse is JSON.
      const value = frozen(made(packed as Json));
      this.#finder.read(id, this.roots);
      return value;
    } catch (thrown) {
      if (thrown instanceof SnapshotDamagedError) throw thrown;
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      throw new SnapshotDamagedError(id, `can't be read: ${reason}`, { cause: thrown });
    } finally {
      this.roots = outer;
    }
  }

  #node<Element>(
    id: string,
    level: number,
    first: number,
    unpack: ElementReader<Element>,
  ): StoredChunk<Nested<Element>> {
    const size = chunkSize ** (level - 1);
    const node = new StoredChunk<Nested<Element>>(() =>
      this.#made(id, (packed) =>
        level === 1
          ? unpack(first, asList(packed))
          : // Above level 1 a chunk is a list of ids.
            (packed as readonly string[]).map((inner, index) =>
              this.#node(inner, level - 1, first + index * size, unpack),
            ),
      ),
    );
    this.roots.push(id);
    this.#finder.meet(id, node, node);
    return node;
  }
}

/** The text was checked against its digest, and a list was written. */
const asList = (packed: Json): readonly Json[] => packed as readonly Json[];

/**
 * The error for a part of a snapshot that is missing or damaged, thrown on first access. The journal still has its
 * content: drop the snapshot and fold the journal, or make the chunk readable and try again.
 */
export class SnapshotDamagedError extends Error {
  override readonly name = "SnapshotDamagedError";
  readonly chunk: string;

  /** `options.cause` is the error of the store that was asked for the chunk. */
  constructor(chunk: string, reason: string, options?: ErrorOptions) {
    super(`chunk "${chunk}" of the snapshot ${reason}; drop the snapshot and fold the journal`, options);
    this.chunk = chunk;
  }
}
