import { dirname } from "node:path";

import { StorageError, type StorageProblem } from "@colloquy/host/store";
import { fs } from "../../ports/system.ts";

/** Runs one operation on the files of a folder. Turns an error of the file system into one that names the way out. */
export const attemptFiles = <A>(folder: string, operation: () => A): A => {
  try {
    return operation();
  } catch (error) {
    // An error of the file system has a number beside its code; an invalid argument's error has none.
    if (!(error instanceof Error) || !("errno" in error) || !("code" in error)) throw error;
    const code = String(error.code);
    const [kind, advice] = failures[code] ?? ["failed", error.message];
    const file = "path" in error && typeof error.path === "string" ? `${code}, "${error.path}"` : code;
    throw new StorageError(kind, `files store "${folder}": ${advice} (${file}).`, { cause: error });
  }
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

/** Creates or replaces a file atomically: a reader finds the old text or the new one. Requires the lock. */
export const replaceFile = (path: string, text: string | Buffer, flush: boolean): void => {
  const part = path + partEnding;
  try {
    // A crash may have left one.
    fs.rmSync(part, { force: true });
    const file = fs.openSync(part, fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o600);
    try {
      writeAll(file, Buffer.from(text), 0);
      if (flush) fs.fdatasyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(part, path);
  } catch (error) {
    fs.rmSync(part, { force: true });
    throw error;
  }
  if (flush) flushFolder(dirname(path));
};

/** Removes a file, and what a crash left of one that was to take its place. */
export const removeFile = (path: string, flush: boolean): void => {
  for (const each of [path + partEnding, path]) fs.rmSync(each, { force: true });
  if (flush) flushFolder(dirname(path));
};

const partEnding = ".part";

/** Creates the folder of a store for the user alone, if its parent exists. */
export const makeStoreFolder = (path: string, flush: boolean): void => {
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Opening the store reports the problem, if there is one.
    if (!isCode(error, "EEXIST", "ENOENT", "ENOTDIR")) throw error;
  }
  try {
    // Flush an existing folder too, since the process that created it may not have.
    if (flush) flushFolder(dirname(path));
  } catch (error) {
    // The parent may be a folder that this user can only enter. Opening the store reports any other problem.
    if (!isCode(error, "EACCES", "EPERM", "ENOENT", "ENOTDIR", "EINVAL")) throw error;
  }
};

/** Flushes the list of files in a folder to the disk. */
export const flushFolder = (folder: string): void => {
  // Windows cannot open folders, and stores their entries by itself.
  if (process.platform === "win32") return;
  const file = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
};

export const writeAll = (file: number, bytes: Buffer, position: number): void => {
  for (let written = 0; written < bytes.length;) {
    written += fs.writeSync(file, bytes, written, bytes.length - written, position + written);
  }
};

export const readIfThere = (path: string): Buffer | null => ifThere(() => fs.readFileSync(path));

/** Returns the result of `use`, or null if the file it needs does not exist. */
export const ifThere = <A>(use: () => A): A | null => {
  try {
    return use();
  } catch (error) {
    if (isCode(error, "ENOENT")) return null;
    throw error;
  }
};

const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof Error && "code" in error && codes.some((code) => code === error.code);

/** Reads the bytes between two positions of a file; fewer if the file ends before. */
export const bytesBetween = (file: number, from: number, until: number): Buffer => {
  const bytes = Buffer.allocUnsafe(Math.max(until - from, 0));
  let length = 0;
  while (length < bytes.length) {
    const count = fs.readSync(file, bytes, length, Math.min(bytes.length - length, readingMax), from + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
};

/** The bytes of one read, well below the system's limit. */
const readingMax = 2 ** 30;
