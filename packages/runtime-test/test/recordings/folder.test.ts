import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRecordings } from "@colloquy/runtime-test/recordings";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const handmade = join(import.meta.dirname, "handmade");

describe("a folder of recordings", () => {
  let folder = "";

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "recordings-"));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true });
  });

  const write = (file: string, ...records: readonly unknown[]): Promise<void> =>
    writeFile(join(folder, file), records.map((record) => JSON.stringify(record)).join("\n"));

  it("is read by what its records are, whatever its files are called", async () => {
    await mkdir(join(folder, "exchanges"));
    await cp(join(handmade, "handmade.jsonl"), join(folder, "anything.jsonl"));
    await write("a.jsonl", { id: "s", sse: "data: [DONE]\n\n", expect: { choices: [], usage: null } });
    await write("b.jsonl", { id: "e", api: "responses", response: { status: 404, headers: {}, body: "gone" } });
    await write("c.jsonl", { id: "r", api: "completions", steps: [] }, { id: "q", api: "completions", steps: [] });
    await write("d.jsonl", { seq: 0, format: 2, event: { type: "thread.started" } });
    const exchange = {
      id: "x",
      source: "s",
      cassette: "c",
      index: 0,
      request: { body: {} },
      response: { status: 200 },
    };
    await write("exchanges/more.jsonl", exchange);
    await write("exchanges.jsonl", exchange, exchange);

    const { cases, streams, errors, exchanges, journals, uncovered, unreadable } = await readRecordings(folder);

    expect(cases.map(({ file, records }) => [file, records.length])).toEqual([["anything.jsonl", 16]]);
    expect(streams.map(({ file }) => file)).toEqual(["a.jsonl"]);
    expect(errors.map(({ file }) => file)).toEqual(["b.jsonl"]);
    expect(uncovered).toEqual([{ file: "c.jsonl", count: 2 }]);
    expect(journals.map(({ file, records }) => [file, records.length])).toEqual([["d.jsonl", 1]]);
    expect(exchanges.map(({ file, records }) => [file, records.length])).toEqual([
      ["exchanges.jsonl", 2],
      ["exchanges/more.jsonl", 1],
    ]);
    expect(unreadable).toEqual([]);
  });

  it("finds the common file of each file of cases by its words", async () => {
    for (const file of ["bench-one-air.jsonl", "bench-two-rail.jsonl", "bench-two-sea.jsonl"]) {
      await cp(join(handmade, "handmade.jsonl"), join(folder, file));
    }
    await write("bench-air.common.json", { system: "air", tools: [] });
    await write("bench-rail.common.json", { system: "rail" });
    const { cases } = await readRecordings(folder);
    expect(cases.map(({ common }) => common?.system)).toEqual(["air", "rail", undefined]);
  });

  it("takes the only common file there is", async () => {
    await cp(join(handmade, "handmade.jsonl"), join(folder, "cases.jsonl"));
    await write("shared.common.json", { system: "by the sea" });
    const { cases } = await readRecordings(folder);
    expect(cases[0]?.common?.system).toBe("by the sea");
  });

  it("says which lines it can't read, and reads the others", async () => {
    await writeFile(join(folder, "odd.jsonl"), '{"half\n\n{"id":"z"}\n{"id":"z","sse":5,"expect":{}}\n');
    const { streams, unreadable } = await readRecordings(folder);
    expect(streams).toEqual([]);
    expect(unreadable.map(({ line, problem }) => [line, problem])).toEqual([
      [1, "not a JSON object"],
      [3, "neither a journal entry, nor a case (steps), a stream (sse), an exchange (request) or an error (response)"],
      [4, expect.stringMatching(/^sse: /)],
    ]);
  });

  it("that is not there is an error", async () => {
    await expect(readRecordings(join(folder, "nowhere"))).rejects.toThrow(/nowhere/);
  });
});
