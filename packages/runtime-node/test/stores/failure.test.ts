import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Store } from "@colloquy/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "./folder.ts";
import { said, take } from "./journal.ts";

let folder: string;
const opened: Store[] = [];
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

interface Kind {
  readonly name: string;
  readonly make: (place: string, options: { readonly busyTimeoutMs?: number }) => Store;
  /** The file of the database of a store. */
  readonly database: (place: string) => string;
  /** Places that only this kind of store refuses with this error. */
  readonly places: readonly (readonly [string, () => string, RegExp])[];
}

const kinds: Readonly<Record<string, Kind>> = {
  SQLite: {
    name: "store.db",
    make: (path, options) => sqliteStore({ path, ...options }),
    database: (path) => path,
    places: [
      ["that is a directory", () => folder, /it is a directory; name a file in it/],
      ["under a file", () => join(plainFile(), "store.db"), /plain" is not a folder/],
    ],
  },
  files: {
    name: "threads",
    make: (place, options) => filesStore({ folder: place, ...options }),
    database: (place) => join(place, "threads.db"),
    places: [
      ["that is a file", () => plainFile(), /plain" is not a folder/],
      ["under a file", () => join(plainFile(), "threads"), /the folder ".*" does not exist, or may not be entered/],
    ],
  },
};

const plainFile = (): string => {
  writeFileSync(join(folder, "plain"), "text");
  return join(folder, "plain");
};

describe.each(Object.entries(kinds))("a store in %s", (_, { name, make, database, places }) => {
  const open = (place = join(folder, name), options: { readonly busyTimeoutMs?: number } = {}): Store => {
    const store = make(place, options);
    opened.push(store);
    return store;
  };
  /** Makes a store with a thread of two entries. */
  const written = async (): Promise<Store> => {
    const store = open();
    const lease = await take(store);
    await store.append(lease, -1, [said(0), said(1)]);
    await store.release(lease);
    return store;
  };

  test.each<Kind["places"][number]>([
    ["in a folder that is not there", () => join(folder, "nowhere", name), /nowhere.*" does not exist.*; create it/],
    ["that is empty", () => "", /the path is empty; name a f/],
    ["that holds a NUL", () => join(folder, "a\0b"), /the path holds a NUL; name a f/],
    ...places,
  ])("refuses a path %s by name, with the way out", async (_case, pathOf, words) => {
    const path = pathOf();
    const refused = { name: "StorageError", kind: "cannot-open", message: expect.stringMatching(words) };
    await expect(open(path).list()).rejects.toMatchObject(refused);
    await expect(open(path).list()).rejects.toThrow(JSON.stringify(path));
  });

  test("refuses a file that is no database, or is a newer version's, and leaves it as it is", async () => {
    await (await written()).close();
    const path = database(join(folder, name));
    const other = new DatabaseSync(path);
    other.exec("PRAGMA user_version = 99");
    other.close();
    await expect(open().list()).rejects.toMatchObject({ kind: "newer", message: expect.stringContaining(path) });
    writeFileSync(path, "words ".repeat(1000));
    const refused = { kind: "not-a-store", message: expect.stringMatching(/\.db": the file is not a SQLite database/) };
    await expect(open().list()).rejects.toMatchObject(refused);
    expect(readFileSync(path, "utf8")).toBe("words ".repeat(1000));
    expect(readdirSync(folder).filter((file) => file.startsWith(`${name}-wal`))).toEqual([]);
  });

  test("tells of a lock that is held for too long, and notices its end", async () => {
    await written();
    const store = open(undefined, { busyTimeoutMs: 1 });
    await store.list();
    const other = new DatabaseSync(database(join(folder, name)));
    other.exec("BEGIN IMMEDIATE");
    const locked = {
      name: "StorageError",
      kind: "locked",
      message: expect.stringMatching(/longer than busyTimeoutMs/),
    };
    await expect(store.acquire("thread", "owner", 1000)).rejects.toMatchObject(locked);
    await expect(open(undefined, { busyTimeoutMs: 1 }).list()).rejects.toMatchObject(locked);
    // A reader needs no lock.
    expect(await store.read("thread")).toHaveLength(2);
    other.exec("ROLLBACK");
    other.close();
    expect(await store.acquire("thread", "owner", 1000)).not.toBeNull();
  });

  test("says that it was closed, whatever it is asked", async () => {
    const store = await written();
    const lease = await take(store);
    await store.close();
    await store.close();
    const closed = { kind: "closed", message: expect.stringMatching(/it was closed; open it again/) };
    for (const use of [
      () => store.acquire("thread", "owner", 1),
      () => store.append(lease, 1, []),
      () => store.read("thread"),
      () => store.list(),
      () => store.readSnapshot("thread"),
      () => store.inbox?.unanswered("thread"),
      () => store.delete("thread"),
    ])
      await expect(async () => use()).rejects.toMatchObject(closed);
  });

  test("refuses a thread id that it can't keep by name", async () => {
    await expect(open().acquire("a\ud800", "owner", 1)).rejects.toMatchObject({
      kind: "invalid-id",
      message: expect.stringMatching(/the thread id "a\\ud800" holds half of a surrogate pair/),
    });
  });
});
