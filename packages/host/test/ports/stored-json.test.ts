import type { Entry } from "@colloquy/machine";
import { expect, test } from "vitest";
import { StorageError } from "../../src/ports/storage-error.ts";
import { inboxAnswerOf, inboxItemOf, listedMetadata, metadataIn, parseStored } from "../../src/ports/stored-json.ts";

const throws = (): never => {
  throw new Error("no column");
};

const started: Entry = { seq: 0, format: 2, event: { type: "thread.started", at: 1, threadId: "t" } };
const changed: Entry = { seq: 1, event: { type: "metadata.changed", at: 2, metadata: { user: "ada" } } };
const ended: Entry = { seq: 2, event: { type: "cancel.requested", at: 3 } };

test("a store reads JSON, and names what is damaged", () => {
  expect(parseStored("store s", "[1]", "entry 1")).toEqual([1]);
  expect(() => parseStored("store s", "[", "entry 1")).toThrow(StorageError);
  expect(() => parseStored("store s", "[", "entry 1")).toThrow("store s: entry 1 is not JSON; restore it");
});

test("an error of storage has a name, its kind, and its cause", () => {
  const cause = new Error("disk");
  const error = new StorageError("io", "store s: it cannot be read", { cause });
  expect(error).toMatchObject({ name: "StorageError", kind: "io", message: "store s: it cannot be read", cause });
});

test("a store keeps the id of an inbox item that it cannot read, and refuses an answer that it cannot read", () => {
  const items = [
    [() => "a", '{"id":"b","event":1}'],
    [() => 7, '{"id":"b"}'],
    [throws, '{"id":"b"}'],
    [() => "a", "{"],
    [() => "a", "[1]"],
    [() => "a", "null"],
    [throws, "7"],
  ] as const;
  expect(items.map(([readId, text]) => inboxItemOf(readId, text))).toEqual([
    { id: "a", event: 1 },
    { id: "b" },
    { id: "b" },
    { id: "a" },
    { id: "a" },
    { id: "a" },
    null,
  ]);
  const answers = ['{"id":"a","seq":1}', "[", "[1]", "null"].map((text) => inboxAnswerOf("a", text));
  const refused = { id: "a", handled: false };
  expect(answers).toEqual([{ id: "a", seq: 1 }, refused, refused, refused]);
});

test("a store lists a thread by its kept metadata, or the journal's, or none", async () => {
  const read = (entries: readonly unknown[]) => async () => entries;
  expect(await listedMetadata('{"user":"bob"}', throws)).toEqual({ user: "bob" });
  expect(await listedMetadata("{", read([started, changed]))).toEqual({ user: "ada" });
  expect(await listedMetadata("[]", read([started]))).toEqual({});
  expect(await listedMetadata("null", read([]))).toEqual({});
  expect(await listedMetadata("{", read([null]))).toEqual({});
  expect(await listedMetadata("{", throws)).toEqual({});
});

test("a store finds the newest metadata of entries, with its seq", () => {
  expect([[], [ended], [started], [started, changed, ended]].map(metadataIn)).toEqual([
    null,
    null,
    { seq: 0, metadata: {} },
    { seq: 1, metadata: { user: "ada" } },
  ]);
});
