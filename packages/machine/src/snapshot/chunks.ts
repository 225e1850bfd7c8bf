import { type Chunks, chunkSize, type Nested, nodesIn, StoredChunk } from "../thread/chunks.ts";
import { digestOf } from "../thread/digest.ts";
import { frozen } from "../thread/frozen.ts";
import type { Json } from "../thread/json.ts";

/** A list in a snapshot: its newest elements, and by their ids the chunks that hold the others, level by level from 1. */
export type PackedList = readonly Json[] | { readonly newest: readonly Json[]; readonly chunks: readonly string[][] };

/** How elements that follow one another are written. */
export interface ElementWriter<Element> {
  /** Leads the ids of the chunks, and sets them apart from those of other lists. */
  readonly name: string;
  /** From the index of the first of them. */
  readonly pack: (first: number, elements: readonly Element[]) => readonly Json[];
}

/** How they are read, from the index of the first of them. */
export type ElementReader<Element> = (first: number, packed: readonly Json[]) => readonly Element[];

/** What taking a snapshot wrote and came across, for those who keep books of what is stored. */
export interface Written {
  /** New chunks, by id. */
  readonly chunks: ReadonlyMap<string, string>;
  /** The ids of nodes, and those of the chunks that they point to: of the new ones, and of those that were met. */
  readonly nodes: ReadonlyMap<object, string>;
  readonly pointsTo: ReadonlyMap<string, readonly string[]>;
  readonly roots: readonly string[];
}

/** Knows what a store has of a node. */
export interface Known {
  readonly idOf: (node: object) => string | undefined;
}

/** Writes lists, with those of their chunks that are not stored yet. The id of a chunk is made from its text. */
export class ListWriter implements Written {
  readonly #known: Known;
  readonly chunks = new Map<string, string>();
  readonly nodes = new Map<object, string>();
  readonly pointsTo = new Map<string, readonly string[]>();
  /** What the list or chunk that is being written points to. */
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

  /** Something that is written once, for as long as the object stays the same. */
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

/** Is notified of what is found in a store. */
export interface Finder {
  /** A node, and itself where it was not read yet. */
  readonly meet: (id: string, node: object, unread: StoredChunk<unknown> | null) => void;
  /** What a chunk points to, once it was read. */
  readonly read: (id: string, pointsTo: readonly string[]) => void;
}

/** Reads lists, and their chunks when they are first looked into. */
export class ListReader {
  readonly #chunk: (id: string) => string | undefined;
  readonly #finder: Finder;
  /** What the list or chunk that is being read points to. */
  roots: string[] = [];

  constructor(chunk: (id: string) => string | undefined, finder: Finder) {
    this.#chunk = chunk;
    this.#finder = finder;
  }

  list<Element>(packed: Json, unpack: ElementReader<Element>): Chunks<Element> {
    // What is read is what was written: the text that it stands in was checked against its digest.
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

  /** What is made of a chunk, at once; that is the object that it is known by from then on. */
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
      // JSON is what it was parsed from.
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

/** What is read is what was written, and that is a list. */
const asList = (packed: Json): readonly Json[] => packed as readonly Json[];

/**
 * A part of a snapshot is not there, or is not what was written. Thrown where it is first looked at. What it held
 * stands in the journal: drop the snapshot, and fold; or see to it that the chunk can be read, and look again.
 */
export class SnapshotDamagedError extends Error {
  override readonly name = "SnapshotDamagedError";
  /** The id of the chunk that can't be read. */
  readonly chunk: string;

  /** `options.cause` is what a store threw that was to read it. */
  constructor(chunk: string, reason: string, options?: ErrorOptions) {
    super(`chunk "${chunk}" of the snapshot ${reason}; drop the snapshot and fold the journal`, options);
    this.chunk = chunk;
  }
}
