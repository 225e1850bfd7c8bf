import { describe, expect, test } from "vitest";
import {
  append,
  at,
  type Chunks,
  chunkSize,
  chunksOf,
  emptyChunks,
  extended,
  findNewest,
  isAppended,
  loaded,
  replaceAt,
  replaced,
  StoredChunk,
  toArray,
  without,
} from "../../src/thread/chunks.ts";
import { runs } from "../runs.ts";
import { conversationMachine } from "../../src/index.ts";
import { PathWalk } from "../../src/thread/thread.ts";
import { Talk } from "../talk.ts";

import fc from "fast-check";

// Draws lengths near those at which a level fills up.
const length = fc.oneof(
  fc.nat({ max: 100 }),
  fc.constantFrom(
    chunkSize - 1,
    chunkSize,
    chunkSize + 1,
    chunkSize ** 2 - 1,
    chunkSize ** 2,
    chunkSize ** 2 + 1,
    chunkSize ** 3 + 33,
  ),
);
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

test.each([0, 1, chunkSize, chunkSize ** 2, chunkSize ** 2 + 1])(
  "at returns undefined for the index NaN of %i elements",
  (count) => {
    expect(at(chunksOf(numbers(count)), Number.NaN)).toBeUndefined();
  },
);

test("chunks are the list that they were made from, element by element", () => {
  fc.assert(
    fc.property(length, fc.integer({ min: -3, max: chunkSize ** 3 + 40 }), (count, index) => {
      const list = numbers(count);
      const chunks = chunksOf(list);
      expect(chunks.length).toBe(count);
      expect(toArray(chunks)).toEqual(list);
      expect(at(chunks, index)).toBe(list[index]);
    }),
    { numRuns: runs(60) },
  );
});

test("replacing an element leaves the others, and the chunks before, as they are", () => {
  fc.assert(
    fc.property(length, fc.nat({ max: chunkSize ** 3 + 40 }), (count, index) => {
      const list = numbers(count);
      const chunks = chunksOf(list);
      const replaced = replaceAt(chunks, index, -1);
      expect(toArray(replaced)).toEqual(index < count ? list.with(index, -1) : list);
      expect(toArray(chunks)).toEqual(list);
      expect(replaced === chunks).toBe(index >= count);
    }),
    { numRuns: runs(60) },
  );
});

test("nothing is replaced in front of the first element", () => {
  const chunks = chunksOf(numbers(3));
  expect(replaceAt(chunks, -1, -1)).toBe(chunks);
});

test("the newest element that passes is looked for among the newest so many, and no others", () => {
  fc.assert(
    fc.property(length, fc.nat({ max: 3 * chunkSize }), fc.nat({ max: 3 * chunkSize }), (count, most, back) => {
      const list = numbers(count);
      const passes = (element: number): boolean => element <= count - back;
      const found = findNewest(chunksOf(list), most, passes);
      expect(found).toBe(list.slice(Math.max(0, count - most)).findLast(passes));
      const looked: number[] = [];
      const lookedAt = (element: number): boolean => {
        looked.push(element);
        return passes(element);
      };
      const mayHold = (elements: readonly number[]): boolean => elements.some(passes);
      expect(findNewest(chunksOf(list), most, lookedAt, mayHold)).toBe(found);
      // It reads at most one of the full chunks.
      expect(looked.length).toBeLessThan(2 * chunkSize);
    }),
    { numRuns: runs(60) },
  );
});

test("chunks are others with one more element at their end only if all other elements are the same", () => {
  for (const count of [
    0,
    1,
    chunkSize - 2,
    chunkSize - 1,
    chunkSize + 5,
    3 * chunkSize - 1,
    chunkSize ** 2 + 2 * chunkSize - 1,
  ]) {
    const before = chunksOf(numbers(count));
    const after = append(before, -1);
    expect([after, append(after, -2), before].map((chunks) => isAppended(chunks, before))).toEqual([
      true,
      false,
      false,
    ]);
    const changed = [0, count >> 1, count - chunkSize, count - 1].filter((index) => index >= 0 && index < count);
    const others = changed.map((index) => append(replaceAt(before, index, -1), -1));
    expect(others.filter((chunks) => isAppended(chunks, before))).toEqual([]);
  }
  // The element fills two chunks.
  const before = chunksOf(numbers(chunkSize ** 2 - 1));
  expect(isAppended(append(before, -1), before)).toBe(false);
});

test("loading chunks changes each element, and returns the same chunks if none changes", () => {
  for (const count of [0, 1, chunkSize, chunkSize ** 2 + chunkSize + 7]) {
    const list = numbers(count);
    const chunks = chunksOf(list);
    expect(loaded(chunks, (element) => element)).toBe(chunks);
    for (const index of [0, count - 1]) {
      const changed = loaded(chunks, (element) => (element === index ? -1 : element));
      expect(toArray(changed)).toEqual(list.map((element) => (element === index ? -1 : element)));
      expect(changed.length).toBe(count);
    }
  }
  // A node in a store is read.
  const read = loaded({ length: chunkSize, levels: [[], [new StoredChunk(() => numbers(chunkSize))]] }, (one) => one);
  expect(read.levels[1]).toEqual([numbers(chunkSize)]);
});

/** Returns the lists inside chunks. */
const listsOf = (chunks: Chunks<unknown>): ReadonlySet<unknown> => {
  const lists = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    lists.add(value);
    value.forEach(visit);
  };
  visit(chunks.levels);
  return lists;
};

test("appending and replacing copy a bounded amount, however long the list", () => {
  for (const count of [10, 1_000, 100_000]) {
    const chunks = chunksOf(numbers(count));
    const before = listsOf(chunks);
    for (const after of [append(chunks, -1), replaceAt(chunks, count >> 1, -1)]) {
      const copied = [...listsOf(after)].filter((list) => !before.has(list)) as readonly unknown[][];
      const references = copied.reduce((sum, list) => sum + list.length, 0);
      expect(references).toBeLessThanOrEqual(chunkSize * 5);
    }
  }
});

test("chunks are plain JSON", () => {
  const chunks = chunksOf(numbers(chunkSize ** 2 + 5));
  expect(JSON.parse(JSON.stringify(chunks))).toEqual(chunks);
  expect(JSON.parse(JSON.stringify(emptyChunks))).toEqual(emptyChunks);
});
test("a stored chunk is read once, is its content in JSON, and cannot be cloned without it", () => {
  let reads = 0;
  const chunk = new StoredChunk(() => {
    reads++;
    return [1, 2];
  });
  expect(JSON.stringify({ chunk })).toBe('{"chunk":[1,2]}');
  expect(chunk.nodes).toBe(chunk.nodes);
  expect(reads).toBe(1);
  // A clone would be empty without an error.
  expect(() => structuredClone(new StoredChunk(() => [1]))).toThrow(/could not be cloned/);
});

test("one that could not be read is read again", () => {
  let reads = 0;
  const chunk = new StoredChunk(() => {
    if (reads++ === 0) throw new Error("gone");
    return ["there"];
  });
  expect(() => chunk.nodes).toThrow("gone");
  expect(chunk.nodes).toEqual(["there"]);
});

describe.each<readonly [string, (list: readonly object[], added: object) => readonly object[], number]>([
  ["extended", (list, added) => extended(list, [added]), 3],
  ["replaced", (list, added) => replaced(list, 1, added), 2],
  ["without", (list) => without(list, 1, 1), 1],
])("%s", (_, changed, length) => {
  test("freezes the copy of a frozen list with its new elements", () => {
    const added = { deep: { er: 1 } };
    const list = changed(Object.freeze([Object.freeze({ a: 1 }), Object.freeze({ b: 2 })]), added);
    expect(list).toHaveLength(length);
    const made = [list, ...list, ...list.flatMap((each) => (each === added ? [added.deep] : []))];
    expect(made.filter((each) => !Object.isFrozen(each))).toEqual([]);
  });

  test("leaves the caller's own elements and the copy of an unfrozen list writable", () => {
    const added = { deep: { er: 1 } };
    const list = changed([{ a: 1 }, { b: 2 }], added);
    expect([list, ...list].map((each) => Object.isFrozen(each))).toEqual(Array(length + 1).fill(false));
  });
});

test("a walk towards the beginning steps over whole chunks of turns", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 2 * chunkSize; turn++)
    talk.tell({ type: "turn.added", messages: [{ role: "user", content: "Hello" }] });
  const walk = new PathWalk(talk.state.context.conversation);
  const runs: (readonly (number | undefined)[])[] = [];
  for (let run = walk.straightRun(); run !== undefined && walk.isAtEnd; run = walk.straightRun()) {
    runs.push([run[0]?.number, run.at(-1)?.number]);
    walk.leave(0);
  }
  expect(runs).toEqual([
    [chunkSize + 1, 2 * chunkSize],
    [1, chunkSize],
  ]);
  expect(walk.turn).toBeUndefined();
});
