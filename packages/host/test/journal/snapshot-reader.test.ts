import { SnapshotDamagedError } from "@colloquy/machine/storage";
import { expect, test } from "vitest";
import { missesMost, SnapshotReader } from "../../src/journal/snapshot-reader.ts";

/** Makes a reader of a store whose chunks must be fetched, and that fails as often as it is told. */
const readerOf = (failures = 0) => {
  let left = failures;
  const fetched: (string | null)[] = [];
  const had = new Set<string | null>();
  const reader = new SnapshotReader({
    head: "",
    chunk: (id) => (had.has(id) || had.has(null) ? `text of ${id}` : undefined),
    fetch: async (chunk) => {
      fetched.push(chunk);
      await Promise.resolve();
      if (left-- > 0) throw new Error("away");
      had.add(chunk);
    },
  });
  /** Reads chunks as a state does: it throws at the first that is missing. */
  const reading =
    (...ids: readonly string[]) =>
    (): readonly string[] =>
      ids.map((id) => {
        const text = reader.chunk(id);
        if (text === undefined) throw new SnapshotDamagedError(id, "it is missing");
        return text;
      });
  return { reader, fetched, reading };
};

test("a reader fetches nothing from a store that reads at once, and passes on the error about a missing chunk", async () => {
  const reader = new SnapshotReader({ head: "", chunk: () => undefined });
  const missing = new SnapshotDamagedError("a", "it is missing");
  const work = () => {
    reader.chunk("a");
    throw missing;
  };
  expect([reader.isWhole, await reader.fetch("a"), await reader.fetch(null)]).toEqual([true, false, false]);
  await expect(reader.over(work)).rejects.toBe(missing);
});

test("a reader fetches a chunk once for all who miss it at the same time", async () => {
  const { reader, fetched, reading } = readerOf();
  const texts = await Promise.all([reader.over(reading("a")), reader.over(reading("a"))]);
  expect([texts, fetched, reader.isWhole]).toEqual([[["text of a"], ["text of a"]], ["a"], false]);
  expect(await reader.fetch("a")).toBe(false);
});

test("a reader names the chunk that its store could not fetch, and fetches it again at the next miss", async () => {
  const { reader, fetched, reading } = readerOf(2);
  await expect(reader.over(reading("a"))).rejects.toThrow(/chunk "a" of the snapshot could not be fetched: away/);
  await expect(reader.fetch(null)).rejects.toThrow(/could not be fetched: away/);
  expect(await reader.over(reading("a"))).toEqual(["text of a"]);
  expect(fetched).toEqual(["a", null, "a"]);
});

test("a reader fetches all chunks at once after many misses of one work", async () => {
  const { reader, fetched, reading } = readerOf();
  const ids = Array.from({ length: 40 }, (_, index) => `${index}`);
  expect(await reader.over(reading(...ids))).toHaveLength(40);
  expect(fetched).toEqual([...ids.slice(0, missesMost - 1), null]);
  expect([reader.isWhole, await reader.fetch("unknown"), await reader.fetch(null)]).toEqual([true, false, false]);
});
