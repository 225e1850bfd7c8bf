import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";
import { newFolder } from "../folder.ts";
import { take } from "../journal.ts";

let folder: string;
let store: Store;
beforeEach(() => {
  folder = newFolder();
  store = filesStore({ folder, synchronous: "NORMAL" });
});
afterEach(async () => {
  await store.close();
});

test("a person finds each thread in a file of its name, and each entry in a line", async () => {
  const lease = await take(store, "order-17");
  await store.append(lease, -1, [entry(0), entry(1)]);
  await store.append(lease, 1, [entry(2, "é\n\u2028🙂")]);
  expect(
    readFileSync(join(folder, "order-17.jsonl"), "utf8")
      .split("\n")
      .map((line) => line.trimEnd()),
  ).toEqual([
    '{"seq":0,"format":2,"event":{"type":"thread.started","at":0,"threadId":"thread"}}',
    '{"seq":1,"event":{"type":"checkpoint.named","at":1,"name":"entry 1"}}',
    '{"seq":2,"event":{"type":"checkpoint.named","at":2,"name":"é\\n\u2028🙂"}}',
    "",
  ]);
});

test("wherever a crash tears an append, its readers find none of it, and the next holder goes on from there", async () => {
  const lease = await take(store, "thread");
  await store.append(lease, -1, [entry(0)]);
  await store.append(lease, 0, [entry(1)]);
  const whole = readFileSync(journal()).length;
  await store.append(lease, 1, [entry(2), entry(3, "é🙂"), entry(4)]);
  const after = readFileSync(journal());
  for (let length = whole; length < after.length; length += 1) {
    writeFileSync(journal(), after.subarray(0, length));
    expect(await store.read("thread")).toEqual([entry(0), entry(1)]);
    expect(await store.read("thread", 1)).toEqual([entry(1)]);
    expect((await store.list()).threads).toMatchObject([{ threadId: "thread", seq: 1 }]);
    await store.append(await take(store, "thread"), 1, [entry(2, "again")]);
    expect(await store.read("thread")).toEqual([entry(0), entry(1), entry(2, "again")]);
    expect(readFileSync(journal(), "utf8").split("\n")).toHaveLength(4);
  }
  writeFileSync(journal(), after);
  expect(await store.read("thread")).toHaveLength(5);
});

test("the zeros that a power cut leaves at the end of a file are no entry", async () => {
  const lease = await take(store, "thread");
  await store.append(lease, -1, [entry(0)]);
  for (const torn of ["\0\0\0", '{"seq":1,"ev\0\0\0\0', '{"seq":1,"ev\0\0\0\0}\n']) {
    appendFileSync(journal(), torn);
    expect(await store.read("thread")).toEqual([entry(0)]);
    await store.append(await take(store, "thread"), 0, []);
  }
  await store.append(await take(store, "thread"), 0, [entry(1)]);
  expect(await store.read("thread")).toEqual([entry(0), entry(1)]);
});

test.each([
  ["zeros", () => 0],
  ["what was on the disk before", (index: number) => [10, 125, 7, 255, 34, 0, 91][index % 7] ?? 0],
])(
  "blocks of an append that a power cut left out, and %s in their places, are none of the journal",
  async (_, byteAt) => {
    const lease = await take(store, "thread");
    await store.append(lease, -1, [entry(0)]);
    await store.append(lease, 0, [entry(1)]);
    const whole = readFileSync(journal()).length;
    await store.append(lease, 1, [entry(2), entry(3, "é🙂".repeat(10)), entry(4)]);
    const after = readFileSync(journal());
    for (const length of [32, 64, 200])
      for (let from = whole; from < after.length; from += 16) {
        const torn = Buffer.from(after);
        for (let at = from; at < Math.min(from + length, torn.length); at += 1) torn[at] = byteAt(at - from);
        writeFileSync(journal(), torn);
        expect(await store.read("thread")).toEqual([entry(0), entry(1)]);
        expect(await store.read("thread", 1)).toEqual([entry(1)]);
        expect((await store.list()).threads).toMatchObject([{ threadId: "thread", seq: 1 }]);
        await store.append(await take(store, "thread"), 1, [entry(2, "again")]);
        expect(await store.read("thread")).toEqual([entry(0), entry(1), entry(2, "again")]);
      }
  },
);

test("an append that a power cut has torn is left out, although it is longer than what is read at first", async () => {
  const lease = await take(store, "thread");
  await store.append(lease, -1, [entry(0)]);
  await store.append(lease, 0, [entry(1)]);
  await store.append(
    lease,
    1,
    Array.from({ length: 40 }, (_, index) => entry(index + 2, "x".repeat(3_000))),
  );
  const torn = readFileSync(journal());
  torn.fill(0, torn.length - 100, torn.length - 50);
  writeFileSync(journal(), torn);
  expect(await store.read("thread", 1)).toEqual([entry(1)]);
  await store.append(await take(store, "thread"), 1, [entry(2, "again")]);
  expect(await store.read("thread")).toEqual([entry(0), entry(1), entry(2, "again")]);
});

test("a damage with appends behind it is no torn append, and nothing is cut off", async () => {
  const lease = await take(store, "thread");
  for (let seq = 0; seq < 6; seq += 1) await store.append(lease, seq - 1, [entry(seq)]);
  const bytes = readFileSync(journal());
  bytes.fill(0, bytes.indexOf('{"seq":2') + 5, bytes.indexOf('{"seq":3') + 20);
  writeFileSync(journal(), bytes);
  await expect(store.read("thread")).rejects.toMatchObject({ kind: "corrupt" });
  const other = await take(store, "thread");
  await expect(async () => store.append(other, 1, [entry(2)])).rejects.toMatchObject({ name: "SequenceConflictError" });
  expect(readFileSync(journal())).toEqual(bytes);
});

test("a damaged line is reported, and no entry after it cut off, although the newest append was torn", async () => {
  const lease = await take(store, "thread");
  for (let seq = 0; seq < 3; seq += 1) await store.append(lease, seq - 1, [entry(seq)]);
  const lines = readFileSync(journal(), "utf8").split("\n");
  const damaged = [...lines.with(1, '{"seq":1,"event":}').slice(0, 3), '{"seq":3,"ev\0\0}', ""].join("\n");
  writeFileSync(journal(), damaged);
  await expect(store.read("thread")).rejects.toMatchObject({ kind: "corrupt" });
  const other = await take(store, "thread");
  await expect(async () => store.append(other, 0, [entry(1)])).rejects.toThrow("thread");
  expect(readFileSync(journal(), "utf8")).toBe(damaged);
});

test("a file that a crash left half written hinders neither a first append nor a rewrite", async () => {
  const lease = await take(store, "thread");
  const leave = (): void => writeFileSync(`${journal()}.part`, '{"seq":0,"for');
  leave();
  await store.append(lease, -1, [entry(0), entry(1)]);
  leave();
  await store.rewrite(lease, [entry(1, "again")]);
  expect(await store.read("thread")).toEqual([entry(0), entry(1, "again")]);
  expect(readdirSync(folder)).not.toContain("thread.jsonl.part");
});

test("a thread whose first append was torn is not there", async () => {
  for (const torn of ['{"seq":0,"format":2', '{"seq":0,"for\0\0\0}\n']) {
    writeFileSync(journal(), torn);
    expect(await store.read("thread")).toEqual([]);
    expect((await store.list()).threads).toEqual([]);
    expect(await store.delete("thread")).toBe(false);
    expect(readdirSync(folder)).not.toContain("thread.jsonl");
  }
});

test.each([
  ["that is not JSON", (lines: string[]) => lines.with(2, '{"seq":2,'), 3],
  ["that holds no entry", (lines: string[]) => lines.with(2, '"words"'), 3],
  ["that is missing", (lines: string[]) => lines.toSpliced(2, 1), 3],
  ["that is there twice", (lines: string[]) => lines.toSpliced(2, 0, lines[2] ?? ""), 4],
  ["at the end that is whole and no JSON", (lines: string[]) => lines.with(4, '{"seq":4,"event":}'), 5],
])("a line %s is told by file and number", async (_, damage, line) => {
  await store.append(
    await take(store, "thread"),
    -1,
    [0, 1, 2, 3, 4].map((seq) => entry(seq)),
  );
  const lines = readFileSync(journal(), "utf8").split("\n");
  writeFileSync(journal(), damage(lines.slice(0, -1)).join("\n") + "\n");
  const told = {
    name: "StorageError",
    kind: "corrupt",
    message: expect.stringContaining(
      `"${journal()}" is damaged, for its line ${line} is not the entry of seq ${line - 1}`,
    ),
  };
  await expect(store.read("thread")).rejects.toMatchObject(told);
  await expect(store.read("thread")).rejects.toThrow(/restore the file from a backup, or delete the thread/);
  expect(await store.delete("thread")).toBe(true);
  expect(await store.read("thread")).toEqual([]);
});

test.each([
  ["in the middle", 2],
  ["at the end", 5],
])("an empty line %s is told, with the way out", async (_, index) => {
  await store.append(
    await take(store, "thread"),
    -1,
    [0, 1, 2, 3, 4].map((seq) => entry(seq)),
  );
  const whole = readFileSync(journal(), "utf8");
  writeFileSync(journal(), whole.split("\n").toSpliced(index, 0, "").join("\n"));
  const told = `"${journal()}" is damaged, for its line ${index + 1} is empty: remove it.`;
  await expect(store.read("thread")).rejects.toMatchObject({ kind: "corrupt", message: expect.stringContaining(told) });
  expect((await store.list()).threads).toMatchObject([{ threadId: "thread", seq: 4, updatedAt: 4 }]);
  writeFileSync(journal(), whole);
  expect(await store.read("thread")).toHaveLength(5);
});

test("nothing is appended to a journal that ends in a damaged line, or to what is no journal", async () => {
  for (const [text, kind] of [
    ['{"seq":0}\n{"seq":1}\nwords\n', "corrupt"],
    ["some notes\n", "not-a-store"],
  ] as const) {
    writeFileSync(journal(), text);
    const lease = await take(store, "thread");
    await expect(async () => store.append(lease, 1, [entry(2)])).rejects.toMatchObject({ kind });
    await expect(store.rewrite(lease, [entry(kind === "corrupt" ? 2 : 0)])).rejects.toMatchObject({ kind });
    expect(readFileSync(journal(), "utf8")).toBe(text);
  }
  await expect(store.read("thread")).rejects.toThrow(/thread\.jsonl" is not a journal/);
  expect((await store.list()).threads).toMatchObject([{ threadId: "thread", seq: -1, createdAt: 0 }]);
});

test("a damaged journal is listed by what can be read of it, and keeps no other from being listed", async () => {
  const long = "x".repeat(300);
  for (const threadId of ["a", "cut", "odd", "words", long])
    await store.append(await take(store, threadId), -1, threadOf(threadId));
  const spoil = (name: string, text: string) => writeFileSync(join(folder, name), text);
  spoil("cut.jsonl", `${readFileSync(join(folder, "cut.jsonl"), "utf8")}words\n`);
  const odd = [
    { seq: 0, event: { type: "thread.started", at: 9, metadata: "words" } },
    { seq: 1, event: {} },
  ];
  spoil("odd.jsonl", odd.map((line) => `${JSON.stringify(line)}\n`).join(""));
  spoil("words.jsonl", "words\n");
  const idFile = readdirSync(folder).find((name) => name.endsWith(".id")) ?? "";
  for (const damage of [() => spoil(idFile, "words"), () => rmSync(join(folder, idFile))]) {
    damage();
    const { threads } = await store.list({ order: "oldest" });
    expect(threads).toEqual([
      { threadId: "words", seq: -1, createdAt: 0, updatedAt: 0, metadata: {} },
      { threadId: "a", seq: 1, createdAt: 3, updatedAt: 1, metadata: { of: "a" } },
      { threadId: "cut", seq: 1, createdAt: 3, updatedAt: 1, metadata: { of: "cut" } },
      { threadId: long, seq: 1, createdAt: 3, updatedAt: 1, metadata: { of: long } },
      { threadId: "odd", seq: 1, createdAt: 9, updatedAt: 9, metadata: {} },
    ]);
    expect((await store.list({ metadata: { of: "a" } })).threads).toHaveLength(1);
  }
  await expect(store.read("cut")).rejects.toMatchObject({ kind: "corrupt" });
  await expect(store.read("words")).rejects.toMatchObject({ kind: "not-a-store" });
});

test.each([null, "words", 7, {}, { threadId: 7 }, { threadId: "\ud800" }, { threadId: "other" }])(
  "a journal of a shortened name is not listed if nothing tells its id: an event %j",
  async (event) => {
    await store.append(await take(store, "other"), -1, [entry(0)]);
    const name = `xxx%-${"0".repeat(64)}.jsonl`;
    writeFileSync(join(folder, name), `${JSON.stringify({ seq: 0, event })}\n`);
    expect((await store.list()).threads).toMatchObject([{ threadId: "other" }]);
    rmSync(join(folder, name));
  },
);

test("a journal is listed with the metadata that is an object, whatever stands in its entries", async () => {
  const lines = (metadata: unknown): string =>
    [
      { seq: 0, event: { type: "thread.started", at: 2, threadId: "thread", metadata: { a: 1 } } },
      { seq: 1, event: { type: "metadata.changed", at: 3, metadata } },
      { seq: 2, event: { type: "metadata.changed", at: "later", metadata: { a: 3 } } },
      { seq: 3, event: null },
      { seq: 4 },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");
  for (const [metadata, expected] of [
    [{ a: 2 }, { a: 2 }],
    [null, {}],
    ["words", {}],
  ]) {
    writeFileSync(journal(), lines(metadata));
    expect((await store.list()).threads).toEqual([
      { threadId: "thread", seq: 4, createdAt: 2, updatedAt: 3, metadata: expected },
    ]);
  }
});

test("what is no thread's file is left alone", async () => {
  const others = ["README.md", "Notes.jsonl", "a.b.jsonl", "thread.jsonl.part"];
  for (const name of others) writeFileSync(join(folder, name), "words\n");
  await store.append(await take(store, "other"), -1, [entry(0)]);
  expect((await store.list()).threads).toMatchObject([{ threadId: "other" }]);
  await store.delete("other");
  for (const name of others) expect(readFileSync(join(folder, name), "utf8")).toBe("words\n");
});

test("the end of a long journal is read alone", async () => {
  const lease = await take(store, "thread");
  const entries = Array.from({ length: 3000 }, (_, seq) => entry(seq, "x".repeat(seq % 500)));
  // Entries that are appended together are read together.
  for (let seq = 0; seq < entries.length; seq += 100) await store.append(lease, seq - 1, entries.slice(seq, seq + 100));
  // The first half is overwritten, so that reading more than necessary would fail.
  const bytes = readFileSync(journal());
  const damaged = Math.floor(bytes.length / 2);
  writeFileSync(journal(), bytes.fill("?", 0, damaged));
  // Cast: each line is an entry.
  const { seq: first } = JSON.parse(bytes.subarray(damaged).toString().split("\n")[1] ?? "") as Entry;
  expect(await store.read("thread", first)).toEqual(entries.slice(first));
  expect(await store.read("thread", 2990)).toEqual(entries.slice(2990));
  expect(await store.read("thread", 2999)).toEqual(entries.slice(2999));
  expect(await store.read("thread", 3000)).toEqual([]);
  expect(await store.read("thread", 2000)).toEqual(entries.slice(2000));
  await store.append(await take(store, "thread"), 2999, [entry(3000)]);
  await expect(store.read("thread")).rejects.toMatchObject({ kind: "not-a-store" });
});

test("a listing reads a file once, and again when the file changes", async () => {
  const lease = await take(store, "thread");
  await store.append(lease, -1, [entry(0)]);
  const [listed] = (await store.list()).threads;
  expect(listed).toMatchObject({ seq: 0, metadata: {} });
  expect((await store.list()).threads[0]).toBe(listed);
  await store.append(lease, 0, [
    { seq: 1, event: { type: "metadata.changed", at: 5, metadata: { user: "one" } } },
    entry(2, 'says "metadata.changed"'),
  ]);
  expect((await store.list()).threads).toMatchObject([{ seq: 2, updatedAt: 2, metadata: { user: "one" } }]);
  await store.rewrite(lease, [{ seq: 1, event: { type: "metadata.changed", at: 5, metadata: { user: "two" } } }]);
  expect((await store.list()).threads).toMatchObject([{ seq: 2, metadata: { user: "two" } }]);
  truncateSync(journal(), readFileSync(journal()).indexOf("\n") + 1);
  expect((await store.list()).threads).toMatchObject([{ seq: 0, metadata: {} }]);
});

const journal = (): string => join(folder, "thread.jsonl");

const entry = (seq: number, name = `entry ${seq}`): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } }
    : { seq, event: { type: "checkpoint.named", at: seq, name } };

const threadOf = (threadId: string): readonly Entry[] => [
  { seq: 0, format: 2, event: { type: "thread.started", at: 3, threadId, metadata: { of: threadId } } },
  entry(1),
];
