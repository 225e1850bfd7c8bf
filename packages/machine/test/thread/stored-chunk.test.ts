import { expect, test } from "vitest";
import { StoredChunk } from "../../src/thread/chunks.ts";

test("a chunk that lies in a store is read once, is what it holds to JSON, and can't be cloned without it", () => {
  let reads = 0;
  const chunk = new StoredChunk(() => {
    reads++;
    return [1, 2];
  });
  expect(JSON.stringify({ chunk })).toBe('{"chunk":[1,2]}');
  expect(chunk.nodes).toBe(chunk.nodes);
  expect(reads).toBe(1);
  // A clone would hold nothing, and nobody would be told.
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
