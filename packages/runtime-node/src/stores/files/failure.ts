import { existsSync, statSync } from "node:fs";

import { sqliteFailure } from "../sqlite/failure.ts";
import { StorageError, type StorageProblem } from "@colloquy/host/store";

/** Runs one operation on the files of a folder, and turns errors of the file system into a `StorageError`. */
export const inWords = <A>(folder: string, operation: () => A): A => {
  try {
    return operation();
  } catch (error) {
    throw fileFailure(error, folder);
  }
};

/** Makes an error that names the folder, the file and a remedy. Other errors are returned unchanged. */
const fileFailure = (error: unknown, folder: string): unknown => {
  if (!(error instanceof Error) || !("code" in error)) return error;
  if (error.code === "ERR_SQLITE_ERROR") return leaseFailure(error, folder);
  // An error of the file system has a number beside its code; an invalid argument's error has none.
  if (typeof error.code !== "string" || !("errno" in error)) return error;
  const [kind, advice] = failures[error.code] ?? ["failed", error.message];
  const file =
    "path" in error && typeof error.path === "string" ? ` (${error.code}, "${error.path}")` : ` (${error.code})`;
  return new StorageError(kind, `files store "${folder}": ${advice}${file}.`, { cause: error });
};

/** Returns why a folder is unusable; null if it is usable. */
export const reasonAgainst = (folder: string): string | null => {
  if (!existsSync(folder)) return "the folder does not exist, or may not be entered; create it first";
  return statSync(folder).isDirectory() ? null : "it is a file; name a folder";
};

const leaseFailure = (error: Error, folder: string): unknown => {
  const failure = sqliteFailure(error, "leases.db");
  if (!(failure instanceof StorageError)) return failure;
  const advice =
    failure.kind === "locked"
      ? "another process kept the folder locked for longer than busyTimeoutMs; try again, or allow more"
      : `its leases can't be kept. ${failure.message.replace(/\.$/, "")}`;
  return new StorageError(failure.kind, `files store "${folder}": ${advice}.`, { cause: error });
};

const readOnly: readonly [StorageProblem, string] = [
  "read-only",
  "it may only be read; give this process the right to write the folder and its files, or choose another folder",
];
const full: readonly [StorageProblem, string] = [
  "full",
  "the disk is full, or a quota is used up; make room and try again",
];

const failures: { readonly [code: string]: readonly [StorageProblem, string] | undefined } = {
  EACCES: readOnly,
  EPERM: readOnly,
  EROFS: readOnly,
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: ["full", "a file would be larger than may be; raise the limit on the size of files"],
  EIO: ["io", "the disk refused to read or write; look at the disk"],
  ENOENT: ["cannot-open", "a file or folder of it is gone; put it back"],
  ENOTDIR: ["cannot-open", "a file stands where a folder should; move it away"],
  EISDIR: ["not-a-store", "a folder stands where a file should; move it away"],
  EMFILE: ["failed", "this process has too many files open; close some, or raise its limit"],
  ENFILE: ["failed", "the system has too many files open; close some, or raise its limit"],
};
