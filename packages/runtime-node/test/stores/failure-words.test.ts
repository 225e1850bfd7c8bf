import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { StorageError } from "@colloquy/host/store";
import { expect, test } from "vitest";

import { attemptFiles } from "../../src/stores/files/disk.ts";
import { cannotOpen, isBusy, sqliteFailure, whileBusy } from "../../src/stores/sqlite/failure.ts";
import { newFolder } from "./folder.ts";

/** Makes an error as the driver of SQLite throws it. */
const ofSqlite = (errcode: unknown): Error => Object.assign(new Error("as SQLite says"), { errcode });

const kept = "another process kept it locked for longer than busyTimeoutMs; try again, or allow more";

test.each<[number, string, string]>([
  [1, "failed", "as SQLite says"],
  [5, "locked", kept],
  [5 | (1 << 8), "locked", kept],
  [6, "locked", "another connection kept it locked; try again"],
  [
    8,
    "read-only",
    "it may only be read; give this process the right to write the file and its folder, or choose another path",
  ],
  [10, "io", "the disk refused to read or write; look at the disk and its quota"],
  [10 | (3 << 8), "io", "the disk refused to read or write; look at the disk and its quota"],
  [10 | (19 << 8), "full", "the disk is full; make room and try again"],
  [11, "corrupt", "the file is damaged; restore it from a backup, or salvage it with `sqlite3 <file> .recover`"],
  [13, "full", "the disk is full; make room and try again"],
  [14, "cannot-open", "a file beside it (-wal, -shm) can't be opened; look at the rights of its folder"],
  [26, "not-a-store", "the file is not a SQLite database; choose another path"],
])("an error %i of SQLite is %s, and says: %s", (code, kind, words) => {
  const cause = ofSqlite(code);
  expect(sqliteFailure(cause, "a.db")).toEqual(
    new StorageError(kind as "failed", `SQLite store "a.db": ${words}.`, { cause }),
  );
  expect(sqliteFailure(cause, "a.db")).toMatchObject({ kind, cause });
  expect(isBusy(cause)).toBe(kind === "locked");
});

test("an error of something else than SQLite stays the same", () => {
  for (const error of [new Error("mine"), ofSqlite("words"), "words", { errcode: 5 }, undefined]) {
    expect(sqliteFailure(error, "a.db")).toBe(error);
    expect(isBusy(error)).toBe(false);
  }
});

test("a path that SQLite can't open says why", () => {
  const folder = newFolder();
  mkdirSync(join(folder, "inner"));
  writeFileSync(join(folder, "plain"), "text");
  const reason = (...path: readonly string[]): string => String(cannotOpen(ofSqlite(14), join(folder, ...path)));
  const said = (path: string, words: string): string => `StorageError: SQLite store "${join(folder, path)}": ${words}.`;
  expect(reason("inner")).toBe(said("inner", "it is a directory; name a file in it"));
  expect(reason("plain")).toBe(said("plain", "the file can't be opened; look at its rights"));
  expect(reason("none.db")).toBe(said("none.db", `no file can be made in "${folder}"; look at its rights`));
  expect(reason("plain", "none.db")).toBe(said("plain/none.db", `"${join(folder, "plain")}" is not a folder`));
  const missing = `the folder "${join(folder, "gone")}" does not exist, or may not be entered; create it first`;
  expect(reason("gone", "none.db")).toBe(said("gone/none.db", missing));
  expect(cannotOpen(ofSqlite(26), "a.db")).toMatchObject({ kind: "not-a-store" });
});

test("a file that is busy is opened again until its time is over, and any other fails at once", () => {
  const opening = (...errors: readonly Error[]) => {
    let tries = 0;
    return (): void => {
      const error = errors[tries];
      tries += 1;
      if (error !== undefined) throw error;
      opened = tries;
    };
  };
  let opened = 0;
  whileBusy(60_000, opening(ofSqlite(5), ofSqlite(6)));
  expect(opened).toBe(3);
  opened = 0;
  const endless = Array.from({ length: 1000 }, () => ofSqlite(5));
  expect(() => whileBusy(0, opening(...endless))).toThrow("as SQLite says");
  expect(() => whileBusy(30, opening(...endless))).toThrow("as SQLite says");
  expect(() => whileBusy(60_000, opening(ofSqlite(8)))).toThrow("as SQLite says");
  expect(opened).toBe(0);
});

const readOnly =
  "it may only be read; give this process the right to write the folder and its files, or choose another folder";
const full = "the disk is full, or a quota is used up; make room and try again";

test.each<[string, string, string]>([
  ["EACCES", "read-only", readOnly],
  ["EPERM", "read-only", readOnly],
  ["EROFS", "read-only", readOnly],
  ["ENOSPC", "full", full],
  ["EDQUOT", "full", full],
  ["EFBIG", "full", "a file would be larger than may be; raise the limit on the size of files"],
  ["EIO", "io", "the disk refused to read or write; look at the disk"],
  ["ENOENT", "cannot-open", "a file or folder of it is gone; put it back"],
  ["ENOTDIR", "cannot-open", "a file stands where a folder should; move it away"],
  ["EISDIR", "not-a-store", "a folder stands where a file should; move it away"],
  ["EMFILE", "failed", "this process has too many files open; close some, or raise its limit"],
  ["ENFILE", "failed", "the system has too many files open; close some, or raise its limit"],
  ["EODD", "failed", "as the system says"],
])("an error %s of the file system is %s, and says: %s", (code, kind, words) => {
  const failing = (more: object) => () =>
    attemptFiles("threads", () => {
      throw Object.assign(new Error("as the system says"), { errno: -1, code }, more);
    });
  expect(failing({})).toThrow(
    expect.objectContaining({ kind, message: `files store "threads": ${words} (${code}).` }) as Error,
  );
  expect(failing({ path: "a/b" })).toThrow(`files store "threads": ${words} (${code}, "a/b").`);
  expect(failing({ path: Buffer.from("a") })).toThrow(`files store "threads": ${words} (${code}).`);
});

test("an error of something else than the file system stays the same, and without one the result does", () => {
  for (const error of [new Error("mine"), Object.assign(new Error("argument"), { code: "ERR_INVALID_ARG_TYPE" })])
    expect(() =>
      attemptFiles("threads", () => {
        throw error;
      }),
    ).toThrow(error);
  expect(attemptFiles("threads", () => "done")).toBe("done");
});
