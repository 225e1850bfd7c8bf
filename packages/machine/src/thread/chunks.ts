/**
 * A list that only grows at its end, in nested chunks of bounded size: appending copies at most
 * `chunkSize` references a level, at 10 elements and at 100,000. Plain JSON, so it can be stored as it is.
 *
 * `levels[0]` holds the newest elements; `levels[k]` holds full nodes of `chunkSize ** k` elements each,
 * all of them older than anything on a lower level.
 */
export interface Chunks<Element> {
  readonly length: number;
  readonly levels: readonly (readonly Nested<Element>[])[];
}

type Nested<Element> = Element | readonly Nested<Element>[];

/** The most references that one chunk holds. */
export const chunkSize = 32;

/** A list without elements. */
export const emptyChunks: Chunks<never> = { length: 0, levels: [[]] };

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
    const nodes: readonly Nested<Element>[] = [...(levels[level] ?? []), carried];
    if (nodes.length < chunkSize) {
      levels[level] = nodes;
      return { length: chunks.length + 1, levels };
    }
    levels[level] = [];
    carried = nodes;
  }
};

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
      // A node above level 0 is a list of nodes.
      nodes = nodes[place] as readonly Nested<Element>[];
      first += place * size;
    }
    // At level 0 a node is an element.
    return { first, elements: nodes as readonly Element[] };
  }
  return undefined;
};

/** The list with the element at an index replaced. Copies one chunk a level; the same list outside it. */
export const replaceAt = <Element>(chunks: Chunks<Element>, index: number, element: Element): Chunks<Element> => {
  if (index < 0 || index >= chunks.length) return chunks;
  let offset = index;
  for (let level = chunks.levels.length - 1; level >= 0; level--) {
    const nodes = chunks.levels[level] ?? [];
    const held = nodes.length * chunkSize ** level;
    if (offset < held) {
      return { length: chunks.length, levels: chunks.levels.with(level, replaced(nodes, level, offset, element)) };
    }
    offset -= held;
  }
  return chunks;
};

/** The newest element that a test takes, among the newest so many; undefined when there is none. */
export const findNewest = <Element>(
  chunks: Chunks<Element>,
  most: number,
  test: (element: Element) => boolean,
): Element | undefined => {
  let left = most;
  const search = (nodes: readonly Nested<Element>[], level: number): Element | undefined => {
    for (let index = nodes.length - 1; index >= 0 && left > 0; index--) {
      if (level > 0) {
        // As below: a node above level 0 is a list of nodes.
        const found = search(nodes[index] as readonly Nested<Element>[], level - 1);
        if (found !== undefined) return found;
        continue;
      }
      left--;
      // At level 0 a node is an element.
      const element = nodes[index] as Element;
      if (test(element)) return element;
    }
    return undefined;
  };
  for (const [level, nodes] of chunks.levels.entries()) {
    const found = search(nodes, level);
    if (found !== undefined) return found;
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

const within = <Element>(nodes: readonly Nested<Element>[], level: number, offset: number): Element => {
  let node: readonly Nested<Element>[] = nodes;
  let rest = offset;
  for (let depth = level; depth > 0; depth--) {
    const size = chunkSize ** depth;
    // A node above level 0 is always a list of nodes; the type can't say how deep it is nested.
    node = node[Math.floor(rest / size)] as readonly Nested<Element>[];
    rest %= size;
  }
  // At level 0 a node is an element.
  return node[rest] as Element;
};

const replaced = <Element>(
  nodes: readonly Nested<Element>[],
  level: number,
  offset: number,
  element: Element,
): readonly Nested<Element>[] => {
  if (level === 0) return nodes.with(offset, element);
  const size = chunkSize ** level;
  const index = Math.floor(offset / size);
  // As above: nodes above level 0 are lists.
  const inner = nodes[index] as readonly Nested<Element>[];
  return nodes.with(index, replaced(inner, level - 1, offset % size, element));
};

const collect = <Element>(nodes: readonly Nested<Element>[], level: number, into: Element[]): void => {
  for (const node of nodes) {
    // As above: an element at level 0, a list of nodes at any other.
    if (level === 0) into.push(node as Element);
    else collect(node as readonly Nested<Element>[], level - 1, into);
  }
};
