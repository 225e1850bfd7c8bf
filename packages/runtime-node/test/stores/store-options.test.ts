import type { Store } from "@colloquy/host";
import { ConfigurationError } from "@colloquy/machine";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { redisStore } from "../../src/stores/redis/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "./folder.ts";

let folder = "";

beforeEach(() => {
  folder = newFolder();
});

const stores = { sqliteStore, filesStore, postgresStore, redisStore };

test.each<[keyof typeof stores, object, string]>([
  ["sqliteStore", {}, "sqliteStore: path is missing"],
  ["sqliteStore", { path: 42 }, "path must be a text (got 42)"],
  ["filesStore", { folder: 5 }, "folder must be a text (got 5)"],
  ["postgresStore", { connectionString: 5 }, "connectionString must be a text (got 5)"],
  ["redisStore", { url: new URL("redis://127.0.0.1") }, "url must be a text (got an object)"],
  ["sqliteStore", { file: "x.db" }, 'sqliteStore has no option "file"; there are path, clock, '],
  ["sqliteStore", { path: "FOLDER/x.db", sync: "FULL" }, 'sqliteStore has no option "sync"'],
  ["sqliteStore", { path: "FOLDER/x.db", synchronous: "full" }, 'synchronous must be "NORMAL" or "FULL" (got "full")'],
  ["sqliteStore", { path: "FOLDER/x.db", erasing: "never" }, 'erasing must be "at-once" or "on-close" (got "never")'],
  [
    "sqliteStore",
    { path: "FOLDER/x.db", busyTimeoutMs: -1 },
    "busyTimeoutMs must be milliseconds from 0 to 2147483647 (got -1)",
  ],
  ["sqliteStore", { path: ":memory:", busyTimeoutMs: Number.NaN }, "milliseconds from 0 to 2147483647 (got NaN)"],
  ["sqliteStore", { path: ":memory:", busyTimeoutMs: 2 ** 31 }, "milliseconds from 0 to 2147483647 (got 2147483648)"],
  ["filesStore", {}, "filesStore: folder is missing"],
  ["filesStore", { path: "FOLDER/x" }, 'filesStore has no option "path"; there are folder, '],
  ["filesStore", { folder: "FOLDER/x", synchronous: "full" }, 'synchronous must be "NORMAL" or "FULL" (got "full")'],
  ["filesStore", { folder: "FOLDER/x", busyTimeoutMs: Number.NaN }, "milliseconds from 0 to 2147483647 (got NaN)"],
  ["postgresStore", {}, "postgresStore: pool or connectionString is missing"],
  ["postgresStore", { url: "postgres://me:secret@127.0.0.1/x" }, 'postgresStore has no option "url"'],
  [
    "postgresStore",
    { connectionString: "postgres://127.0.0.1", schema: "a b" },
    'schema must be letters, digits and _, at most 63 (got "a b")',
  ],
  ["postgresStore", { connectionString: "postgres://127.0.0.1", schema: "" }, "at most 63 (got an empty text)"],
  [
    "postgresStore",
    { connectionString: "postgres://127.0.0.1", timeoutMs: Number.NaN },
    "timeoutMs must be milliseconds, more than 0 (got NaN)",
  ],
  [
    "postgresStore",
    { connectionString: "postgres://127.0.0.1", timeoutMs: 0 },
    "timeoutMs must be milliseconds, more than 0 (got 0)",
  ],
  ["redisStore", { url: "redis://127.0.0.1", prefix: "{a}" }, 'prefix must be a text without braces (got "{a}")'],
  ["redisStore", { url: "redis://127.0.0.1", timeoutMs: -1 }, "more than 0 (got -1)"],
  ["redisStore", { url: "redis://127.0.0.1", timeoutMs: 2 ** 31 }, "more than 0 (got 2147483648)"],
  ["redisStore", {}, "redisStore: client or url is missing"],
  ["redisStore", { connectionString: "redis://me:secret@127.0.0.1" }, 'redisStore has no option "connectionString"'],
])("%s of %j is refused, and nothing is made", (name, options, words) => {
  const given = Object.entries(options).map(([key, value]) => [
    key,
    String(value).startsWith("FOLDER") ? value.replace("FOLDER", folder) : value,
  ]);
  const make = () => stores[name](Object.fromEntries(given));
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(words);
  expect(readdirSync(folder)).toEqual([]);
});

test("a store takes the least and the longest time to wait", async () => {
  for (const busyTimeoutMs of [0, 2 ** 31 - 1]) {
    const store = sqliteStore({ path: ":memory:", busyTimeoutMs });
    expect((await store.list()).threads).toEqual([]);
    await store.close();
  }
  for (const timeoutMs of [0.5, 2 ** 31 - 1])
    expect(() => redisStore({ url: "redis://127.0.0.1", timeoutMs })).not.toThrow();
});

test("an address in place of options is not shown", () => {
  // Cast: a caller in JavaScript may pass it.
  const address = "postgres://me:secret@127.0.0.1/x" as unknown as { readonly connectionString: string };
  expect(() => postgresStore(address)).toThrow(
    /^postgresStore is given a value of type string; it takes an object of pool, [A-Za-z, ]*$/,
  );
});

test.each(["sqliteStore", "filesStore"] as const)("%s of options that are left undefined is made", async (name) => {
  const where = join(folder, "x");
  const given = name === "sqliteStore" ? { path: where } : { folder: where };
  // Without `exactOptionalPropertyTypes` a caller may pass undefined.
  const store = stores[name]({ ...given, other: undefined } as never);
  expect((await store.list()).threads).toEqual([]);
  await store.close();
});

test.each(["sqliteStore", "filesStore", "postgresStore", "redisStore"] as const)(
  "%s of a place that is not set is refused by its first call, as a server may be built without it",
  async (name) => {
    const place = { sqliteStore: "path", filesStore: "folder", postgresStore: "connectionString", redisStore: "url" }[
      name
    ];
    const store = stores[name]({ [place]: undefined } as never);
    await expect(store.list()).rejects.toMatchObject({ name: "StorageError", kind: "cannot-open" });
    await store.close();
  },
);

test.each(["sqliteStore", "filesStore"] as const)(
  "%s makes nothing before its first call, nor when it is closed, and tries again after a call that failed",
  async (name) => {
    const around = join(folder, "later");
    const place = join(around, "x");
    const given = (name === "sqliteStore" ? { path: place } : { folder: place }) as never;
    const unused = stores[name](given);
    await unused.close();
    await expect(unused.list()).rejects.toMatchObject({ kind: "closed" });
    const store = stores[name](given);
    await expect(store.list()).rejects.toMatchObject({ kind: "cannot-open" });
    expect(readdirSync(folder)).toEqual([]);
    mkdirSync(around);
    expect(readdirSync(around)).toEqual([]);
    expect((await store.list()).threads).toEqual([]);
    expect(readdirSync(around)).not.toEqual([]);
    await store.close();
  },
);

/** Returns the calls that are given the id of a thread. */
const callsOf = (store: Store): readonly ((id: string) => Promise<unknown> | undefined)[] => [
  (id) => store.acquire(id, "owner", 1),
  (id) => store.read(id),
  (id) => store.readSnapshot(id),
  (id) => store.delete(id),
  (id) => store.inbox?.post(id, { id: "a", event: { type: "cancel.requested", at: 1 } }),
  (id) => store.inbox?.unanswered(id),
  (id) => store.inbox?.answerTo(id, "a"),
  (id) => store.inbox?.discard(id, "a"),
  (id) => store.parts?.read(id, { at: 0, after: null }),
];

test.each(["sqliteStore", "filesStore"] as const)(
  "a %s refuses a thread id with half of a surrogate pair by all calls, as it would be kept as another id",
  async (name) => {
    const store = stores[name]({ [name === "sqliteStore" ? "path" : "folder"]: join(folder, "x") } as never);
    for (const call of callsOf(store))
      await expect(call("a\ud800")).rejects.toMatchObject({
        kind: "invalid-id",
        message: expect.stringContaining(': the thread id "a\\ud800" holds half of a surrogate pair'),
      });
    await store.close();
  },
);

const servers = {
  postgresStore: () => postgresStore({ connectionString: "postgres://127.0.0.1:1/x" }),
  redisStore: () => redisStore({ url: "redis://127.0.0.1:1" }),
};

test.each(Object.entries(servers))(
  "a %s refuses a thread id that it can't keep by all calls, before it asks its server",
  async (_, open) => {
    const store = open();
    const refused: readonly (readonly [string, string])[] = [
      ["a\0b", 'the thread id "a\\u0000b" holds a NUL'],
      ["x".repeat(1001), `the thread id "${"x".repeat(1000)}" has more than 1000 characters`],
      ["a\ud800", 'the thread id "a\\ud800" holds half of a surrogate pair'],
    ];
    for (const call of callsOf(store)) {
      for (const [id, words] of refused)
        await expect(call(id)).rejects.toMatchObject({
          kind: "invalid-id",
          message: expect.stringContaining(`: ${words}, which it can't keep; choose another id.`),
        });
      await expect(call("x".repeat(1000))).rejects.toMatchObject({ kind: "unreachable" });
    }
    for (const ttlMs of [-1, Number.NaN])
      await expect(store.acquire("a", "owner", ttlMs)).rejects.toThrow(String(ttlMs));
    await store.close();
  },
);

test.each(["words", '["x",0]', '{"0":"1","1":0}', '["1"]', '["1",-1]', '["1",0.5]', '["1",2147483648]'])(
  "a search after %s, which no page of a search gave, is refused before the store is reached",
  async (after) => {
    const refused = "it must be the next of a page that was found";
    for (const store of [
      sqliteStore({ path: ":memory:" }),
      postgresStore({ connectionString: "postgres://127.0.0.1:1/none" }),
    ]) {
      await expect(store.search?.("word", { after })).rejects.toThrow(refused);
      await store.close();
    }
  },
);

test("a search may continue after the first entry of a thread", async () => {
  const store = postgresStore({ connectionString: "postgres://127.0.0.1:1/none" });
  expect(await store.search?.("", { after: '["1",0]' })).toEqual({ hits: [], next: null });
  await store.close();
});
