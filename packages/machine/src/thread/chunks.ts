// Lists that never change: a longer one, or one with another element, is a copy. Long ones are kept in chunks.
import { exact, frozen } from "./plain-data.ts";

/**
 * A list that only grows at its end, in nested chunks of bounded size. Appending copies at most `chunkSize` references
 * a level, at 10 elements and at 100,000. Plain JSON, so it can be stored unchanged.
 *
 * `levels[0]` holds the newest elements; `levels[k]` holds full nodes of `chunkSize ** k` elements each, all of them
 * older than anything on a lower level. A full node may stay in a store until its first access.
 */
export interface Chunks<Element> {
  readonly length: number;
  readonly levels: readonly (readonly Nested<Element>[])[];
}

/** An element at level 0. At a higher level, a full node of nodes of the level below. */
export type Nested<Element> = Element | readonly Nested<Element>[] | StoredChunk<Nested<Element>>;

/** The largest number of references in one chunk. */
export const chunkSize = 32;

export const emptyChunks: Chunks<never> = frozen({ length: 0, levels: [[]] });

export const chunksOf = <Element>(elements: Iterable<Element>): Chunks<Element> => {
  let chunks: Chunks<Element> = emptyChunks;
  for (const element of elements) chunks = append(chunks, frozen(element));
  return chunks;
};

/** Returns the list with one more element at its end. The given list is unchanged; the element is frozen already. */
export const append = <Element>(chunks: Chunks<Element>, element: Element): Chunks<Element> => {
  const levels = [...chunks.levels];
  let carried: Nested<Element> = element;
  for (let level = 0; ; level++) {
    // Frozen at once, so that a list of thousands is not searched again. (`concat` of a frozen list is slow.)
    const nodes: readonly Nested<Element>[] = exact([...(levels[level] ?? noNodes), carried]);
    if (nodes.length < chunkSize) {
      levels[level] = nodes;
      return Object.freeze({ length: chunks.length + 1, levels: Object.freeze(levels) });
    }
    levels[level] = noNodes;
    carried = nodes;
  }
};

const noNodes: readonly never[] = Object.freeze([]);

/** Returns whether `chunks` is `before` with one more element. False if that element filled more than one chunk. */
export const isAppended = <Element>(chunks: Chunks<Element>, before: Chunks<Element>): boolean => {
  if (chunks.length !== before.length + 1) return false;
  for (let level = 1; level < before.levels.length; level++)
    if (!beginsWith(chunks.levels[level], before.levels[level])) return false;
  const [now, older] = chunks.levels;
  // The newest chunk is empty if the element filled it.
  return beginsWith(now?.length === 0 ? nodesIn(older?.at(-1)) : now, before.levels[0]);
};

/** Returns whether a list begins with the elements of another. */
export const beginsWith = (list: readonly unknown[] = noNodes, beginning: readonly unknown[] = noNodes): boolean => {
  if (list === beginning) return true;
  for (let index = 0; index < beginning.length; index++) if (list[index] !== beginning[index]) return false;
  return true;
};

/** Returns the element at an index, from 0; undefined outside the list. */
export const at = <Element>(chunks: Chunks<Element>, index: number): Element | undefined =>
  chunkAt(chunks, index)?.[index % chunkSize];

/**
 * Returns the consecutive elements that are stored with an index, for callers that continue from there; undefined
 * outside the list. Nodes of higher levels are full, so each chunk begins at a multiple of `chunkSize`.
 */
export const chunkAt = <Element>(chunks: Chunks<Element>, index: number): readonly Element[] | undefined => {
  // This condition also rejects NaN.
  if (!(index >= 0 && index < chunks.length)) return undefined;
  let offset = index;
  for (let level = chunks.levels.length - 1; level >= 0; level--) {
    let nodes: readonly Nested<Element>[] = chunks.levels[level] ?? noNodes;
    let size = chunkSize ** level;
    if (offset >= nodes.length * size) {
      offset -= nodes.length * size;
      continue;
    }
    for (; size > 1; size /= chunkSize) {
      nodes = nodesIn(nodes[Math.floor(offset / size)]);
      offset %= size;
    }
    // At level 0 a node is an element.
    return nodes as readonly Element[];
  }
  return undefined;
};

/**
 * Returns the list with the element at an index replaced. It copies one chunk a level. Outside the list it returns the
 * same list.
 */
export const replaceAt = <Element>(chunks: Chunks<Element>, index: number, element: Element): Chunks<Element> => {
  if (index < 0) return chunks;
  let offset = index;
  for (let level = chunks.levels.length - 1; level >= 0; level--) {
    const nodes = chunks.levels[level] ?? [];
    const held = nodes.length * chunkSize ** level;
    if (offset < held) {
      const changed = replacedWithin(nodes, level, offset, frozen(element));
      return { length: chunks.length, levels: chunks.levels.with(level, changed) };
    }
    offset -= held;
  }
  return chunks;
};

/**
 * Returns the newest element that passes a test, among the newest `most`; undefined if there is none.
 *
 * @param mayHold tells whether a chunk may hold such an element, if that is known without testing each.
 */
export const findNewest = <Element>(
  chunks: Chunks<Element>,
  most: number,
  test: (element: Element) => boolean,
  mayHold: (elements: readonly Element[]) => boolean = () => true,
): Element | undefined => {
  const oldest = Math.max(0, chunks.length - most);
  for (let end = chunks.length; end > oldest;) {
    const first = end - 1 - ((end - 1) % chunkSize);
    const elements = chunkAt(chunks, first) ?? noNodes;
    const isPassed = elements.length > few && !mayHold(elements);
    for (let index = end - 1; !isPassed && index >= first && index >= oldest; index--) {
      const element = elements[index - first];
      if (element !== undefined && test(element)) return element;
    }
    end = first;
  }
  return undefined;
};

/** Testing this many elements is faster than calling `mayHold`. */
const few = 4;

/** Returns all elements, oldest first. */
export const toArray = <Element>(chunks: Chunks<Element>): readonly Element[] => {
  // By index: taking a frozen list apart makes an iterator. Prompts read dozens of turns.
  const newest = chunks.levels[0];
  // Most lists are short and have one chunk; level 0 holds elements.
  if (newest?.length === chunks.length) return newest as readonly Element[];
  const elements: Element[] = [];
  for (let index = 0; index < chunks.length; index += chunkSize) elements.push(...(chunkAt(chunks, index) ?? noNodes));
  return elements;
};

/** Returns the nodes of a node above level 0, and reads them from its store if necessary. */
export const nodesIn = <Element>(node: Nested<Element> | undefined): readonly Nested<Element>[] =>
  // The type does not tell the level of a node. Above level 0 it is a list of nodes, here or in a store.
  node instanceof StoredChunk ? node.nodes : (node as readonly Nested<Element>[]);

/**
 * Returns the list with all chunks loaded and each element changed by a function; the same list if nothing changes.
 */
export const loaded = <Element>(chunks: Chunks<Element>, change: (element: Element) => Element): Chunks<Element> => {
  const load = (node: Nested<Element>, level: number): Nested<Element> => {
    // At level 0 a node is an element.
    if (level === 0) return change(node as Element);
    const nodes = nodesIn(node);
    return mapped(nodes, (inner) => load(inner, level - 1));
  };
  const levels = mapped(chunks.levels, (nodes, level) => mapped(nodes, (node) => load(node, level)));
  return levels === chunks.levels ? chunks : { length: chunks.length, levels };
};

const mapped = <Item>(items: readonly Item[], change: (item: Item, index: number) => Item): readonly Item[] => {
  const after = items.map(change);
  return after.every((item, index) => item === items[index]) ? items : after;
};

const replacedWithin = <Element>(
  nodes: readonly Nested<Element>[],
  level: number,
  offset: number,
  element: Element,
): readonly Nested<Element>[] => {
  if (level === 0) return replaced(nodes, offset, element);
  const size = chunkSize ** level;
  const index = Math.floor(offset / size);
  return replaced(nodes, index, replacedWithin(nodesIn(nodes[index]), level - 1, offset % size, element));
};

/**
 * A full chunk of a list in a store, read on first access. `JSON.stringify` writes its content, so a list with such
 * chunks is still plain JSON; `loadAll` makes a list without them.
 */
export class StoredChunk<Node> {
  /** An own member, so that `structuredClone` rejects a state instead of copying it without the stored content. */
  readonly toJSON: () => readonly Node[] = () => this.nodes;
  #nodes: readonly Node[] | null = null;
  #read: (() => readonly Node[]) | null;

  /** Calls `read` at most once, unless it throws. */
  constructor(read: () => readonly Node[]) {
    this.#read = read;
  }

  /** Returns the content: the same list each time. Throws the errors of `read`. */
  get nodes(): readonly Node[] {
    if (this.#nodes === null) {
      this.#nodes = this.#read?.() ?? [];
      this.#read = null;
    }
    return this.#nodes;
  }
}

/**
 * Returns a list with more elements at its end. If the list is frozen, the result is frozen at once, so that its
 * elements are not checked again. A list may have thousands of elements and grow by one at a time. (`slice`, `with`
 * and `concat` of a frozen list take some forty times as long.)
 */
export const extended = <Element>(list: readonly Element[], added: readonly Element[]): readonly Element[] =>
  frozenAs(list, added, [...list, ...added]);

/** Returns a list without `count` elements from an index on. */
export const without = <Element>(list: readonly Element[], index: number, count: number): readonly Element[] => {
  const copy = [...list];
  copy.splice(index, count);
  return frozenAs(list, [], copy);
};

/** Returns a list with the element at an index replaced. The index must exist. */
export const replaced = <Element>(list: readonly Element[], index: number, element: Element): readonly Element[] => {
  const copy = [...list];
  copy[index] = element;
  return frozenAs(list, [element], copy);
};

const frozenAs = <Element>(
  list: readonly Element[],
  added: readonly Element[],
  copy: readonly Element[],
): readonly Element[] => {
  if (!Object.isFrozen(list)) return copy;
  for (const element of added) frozen(element);
  return Object.freeze(copy);
};
