import { extended, frozen, replaced } from "./frozen.ts";

/**
 * A list that only grows at its end, in nested chunks of bounded size: appending copies at most
 * `chunkSize` references a level, at 10 elements and at 100,000. Plain JSON, so it can be stored as it is.
 *
 * `levels[0]` holds the newest elements; `levels[k]` holds full nodes of `chunkSize ** k` elements each,
 * all of them older than anything on a lower level. A full node may lie in a store until it is looked into.
 */
export interface Chunks<Element> {
  readonly length: number;
  readonly levels: readonly (readonly Nested<Element>[])[];
}

/** An element at level 0; above it a full node of nodes of the level below. */
export type Nested<Element> = Element | readonly Nested<Element>[] | StoredChunk<Nested<Element>>;

/** The most references that one chunk holds. */
export const chunkSize = 32;

/** A list without elements. */
export const emptyChunks: Chunks<never> = frozen({ length: 0, levels: [[]] });

/** A list of the given elements. */
export const chunksOf = <Element>(elements: Iterable<Element>): Chunks<Element> => {
  let chunks: Chunks<Element> = emptyChunks;
  for (const element of elements) chunks = append(chunks, element);
  return chunks;
};

/** The list with one more element at its end. The given list stays as it is. */
export const append = <Element>(chunks: Chunks<Element>, element: Element): Chunks<Element> => {
  const levels = [...chunks.levels];
  let carried: Nested<Element> = element;
  for (let level = 0; ; level++) {
    const nodes: readonly Nested<Element>[] = extended(levels[level] ?? noNodes, [carried]);
    if (nodes.length < chunkSize) {
      levels[level] = nodes;
      return Object.isFrozen(chunks)
        ? Object.freeze({ length: chunks.length + 1, levels: Object.freeze(levels) })
        : { length: chunks.length + 1, levels };
    }
    levels[level] = noNodes;
    carried = nodes;
  }
};

const noNodes: readonly never[] = Object.freeze([]);

/** The element at an index, from 0; undefined outside the list. */
export const at = <Element>(chunks: Chunks<Element>, index: number): Element | undefined => {
  if (index < 0 || index >= chunks.length) return undefined;
  let offset = index;
  for (let level = chunks.levels.length - 1; level >= 0; level--) {
    const nodes = chunks.levels[level] ?? [];
    const held = nodes.length * chunkSize ** level;
    if (offset < held) return within(nodes, level, offset);
    offset -= held;
  }
  return undefined;
};

/** Elements that lie together: the first of them is at `first`. */
export interface Run<Element> {
  readonly first: number;
  readonly elements: readonly Element[];
}

/** The chunk that holds an index, for those who go on from there; undefined outside the list. */
export const runAt = <Element>(chunks: Chunks<Element>, index: number): Run<Element> | undefined => {
  if (index < 0 || index >= chunks.length) return undefined;
  let first = 0;
  for (let level = chunks.levels.length - 1; level >= 0; level--) {
    let nodes: readonly Nested<Element>[] = chunks.levels[level] ?? [];
    let size = chunkSize ** level;
    if (index >= first + nodes.length * size) {
      first += nodes.length * size;
      continue;
    }
    for (; size > 1; size /= chunkSize) {
      const place = Math.floor((index - first) / size);
      nodes = nodesIn(nodes[place]);
      first += place * size;
    }
    // At level 0 a node is an element.
    return { first, elements: nodes as readonly Element[] };
  }
  return undefined;
};

/** The list with the element at an index replaced. Copies one chunk a level; the same list outside it. */
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
 * The newest element that a test takes, among the newest so many; undefined when there is none.
 *
 * @param mayHold Whether a full chunk may hold such an element, where that is known without a look at each.
 */
export const findNewest = <Element>(
  chunks: Chunks<Element>,
  most: number,
  test: (element: Element) => boolean,
  mayHold: (elements: readonly Element[]) => boolean = () => true,
): Element | undefined => {
  const oldest = Math.max(0, chunks.length - most);
  for (let end = chunks.length; end > oldest;) {
    const run = runAt(chunks, end - 1);
    if (run === undefined) return undefined;
    const { first, elements } = run;
    const isPassed = elements.length === chunkSize && !mayHold(elements);
    for (let index = end - 1 - first; !isPassed && index >= 0 && first + index >= oldest; index--) {
      const element = elements[index];
      if (element !== undefined && test(element)) return element;
    }
    end = first;
  }
  return undefined;
};

/** All elements, oldest first. */
export const toArray = <Element>(chunks: Chunks<Element>): readonly Element[] => {
  const [newest] = chunks.levels;
  // Most lists are short, and lie in one chunk; level 0 holds elements.
  if (newest?.length === chunks.length) return newest as readonly Element[];
  const elements: Element[] = [];
  for (let level = chunks.levels.length - 1; level >= 0; level--) collect(chunks.levels[level] ?? [], level, elements);
  return elements;
};

/** What a node above level 0 holds, read from its store if need be. */
export const nodesIn = <Element>(node: Nested<Element> | undefined): readonly Nested<Element>[] =>
  // The type can't say on which level a node is: above level 0 it is a list of nodes, here or in a store.
  node instanceof StoredChunk ? node.nodes : (node as readonly Nested<Element>[]);

/** The same list with nothing left in a store, its elements changed on the way; the same one where there is nothing to change. */
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

const within = <Element>(nodes: readonly Nested<Element>[], level: number, offset: number): Element => {
  let node: readonly Nested<Element>[] = nodes;
  let rest = offset;
  for (let depth = level; depth > 0; depth--) {
    const size = chunkSize ** depth;
    node = nodesIn(node[Math.floor(rest / size)]);
    rest %= size;
  }
  // At level 0 a node is an element.
  return node[rest] as Element;
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

const collect = <Element>(nodes: readonly Nested<Element>[], level: number, into: Element[]): void => {
  for (const node of nodes) {
    // At level 0 a node is an element.
    if (level === 0) into.push(node as Element);
    else collect(nodesIn(node), level - 1, into);
  }
};

/**
 * A full chunk of a list that lies in a store, and is read at the first look. To `JSON.stringify` it is
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
