import { ConfigurationError } from "@colloquy/machine";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { redisStore } from "../../src/stores/redis/index.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const stores = { sqliteStore, filesStore, postgresStore, redisStore };

test.each<[keyof typeof stores, object, string]>([
  ["sqliteStore", {}, "sqliteStore: path is missing"],
  ["sqliteStore", { file: "x.db" }, 'sqliteStore has no option "file"; there are path, clock, '],
  ["sqliteStore", { path: "FOLDER/x.db", sync: "FULL" }, 'sqliteStore has no option "sync"'],
  ["sqliteStore", { path: "FOLDER/x.db", synchronous: "full" }, 'synchronous is "full"; give "NORMAL" or "FULL"'],
  ["sqliteStore", { path: "FOLDER/x.db", erasing: "never" }, 'erasing is "never"; give "at-once" or "on-close"'],
  ["sqliteStore", { path: "FOLDER/x.db", busyTimeoutMs: -1 }, "busyTimeoutMs is -1; give milliseconds, from 0"],
  ["filesStore", {}, "filesStore: folder is missing"],
  ["filesStore", { path: "FOLDER/x" }, 'filesStore has no option "path"; there are folder, '],
  ["filesStore", { folder: "FOLDER/x", synchronous: "full" }, 'synchronous is "full"; give "NORMAL" or "FULL"'],
  ["postgresStore", {}, "postgresStore: pool or connectionString is missing"],
  ["postgresStore", { url: "postgres://me:secret@127.0.0.1/x" }, 'postgresStore has no option "url"'],
  ["postgresStore", { connectionString: "postgres://127.0.0.1", schema: "a b" }, 'schema is "a b"; give letters'],
  ["postgresStore", { connectionString: "postgres://127.0.0.1", timeoutMs: 0 }, "timeoutMs is 0; give milliseconds"],
  ["redisStore", { url: "redis://127.0.0.1", prefix: "{a}" }, 'prefix is "{a}"; leave out braces'],
  ["redisStore", {}, "redisStore: client or url is missing"],
  ["redisStore", { connectionString: "redis://me:secret@127.0.0.1" }, 'redisStore has no option "connectionString"'],
])("%s of %j is refused, and nothing is made", (name, options, words) => {
  const given = JSON.parse(JSON.stringify(options).replace("FOLDER", folder));
  const make = () => stores[name](given);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(words);
  expect(readdirSync(folder)).toEqual([]);
});

test("an address in place of options is not shown", () => {
  // As whoever writes JavaScript may have it.
  const address = "postgres://me:secret@127.0.0.1/x" as unknown as { readonly connectionString: string };
  expect(() => postgresStore(address)).toThrow(
    /^postgresStore is given a value of type string; it takes an object of pool, [A-Za-z, ]*$/,
  );
});

test.each(["sqliteStore", "filesStore"] as const)("%s of options that are left undefined is made", async (name) => {
  const where = join(folder, "x");
  const given = name === "sqliteStore" ? { path: where } : { folder: where };
  // Without exact optional properties a caller may leave some undefined.
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
