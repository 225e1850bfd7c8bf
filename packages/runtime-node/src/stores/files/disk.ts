import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { StorageError } from "@colloquy/host/store";

/** Files are for the user of the process alone. A mode is given when something is made, never later. */
const fileMode = 0o600;
const folderMode = 0o700;

/** No link is followed, and nothing waits, as a FIFO without a reader would. Windows has neither flag, and a flag that is not there adds nothing. */
const asIs = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a file. Throws a `StorageError` for what is none: a link, a folder, a FIFO. */
export const openFile = (path: string, how: "read" | "write" | "create"): number => {
  const file = openAsIs(path, flagsOf[how]);
  try {
    if (!fstatSync(file).isFile()) throw noFile(path);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
};

const flagsOf = {
  read: constants.O_RDONLY,
  write: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
};

const openAsIs = (path: string, flags: number): number => {
  try {
    return openSync(path, flags | asIs, fileMode);
  } catch (error) {
    throw isCode(error, "ELOOP", "EMLINK", "ENXIO", "EISDIR") ? noFile(path) : error;
  }
};

/** Puts a text in the place of a file, or makes it: a reader finds the old one or the new one. Under the lock. */
export const replaceFile = (path: string, text: string | Buffer, flush: boolean): void => {
  checkFile(path);
  const part = `${path}${partEnding}`;
  const file = createAnew(part);
  try {
    try {
      writeAll(file, Buffer.from(text), 0);
      if (flush) fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
};

/** What a file is called while it is not whole. */
export const partEnding = ".part";

/** Makes a file, in place of one that a crash left half written. Several processes may do so at the same moment: each gets its own file. */
export const createAnew = (path: string): number => {
  for (;;) {
    try {
      return openFile(path, "create");
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
      checkFile(path);
      ifThere(() => unlinkSync(path));
    }
  }
};

/** Throws a `StorageError` for something at a path that is no file. */
export const checkFile = (path: string): void => {
  const there = lookAt(path);
  if (there !== undefined && !there.isFile()) throw noFile(path);
};

/** Makes a folder in the store's, if it is not there. */
export const makeFolder = (path: string): void => {
  if (!isFolderThere(path)) mkdirSync(path, { mode: folderMode });
};

/** Makes the folder of a store, if it is not there and the one around it is. That may be a link. */
export const makeStoreFolder = (path: string, flush: boolean): void => {
  try {
    mkdirSync(path, { mode: folderMode });
  } catch (error) {
    // What is wrong, if anything, is reported when it is opened.
    if (!isCode(error, "EEXIST", "ENOENT")) throw error;
  }
  if (!flush) return;
  try {
    // Also where it exists already: the process that made it may not have flushed it.
    flushFolder(dirname(path));
  } catch (error) {
    // A folder may be one that others can only pass through. What else is wrong is reported when the store's is opened.
    if (!isCode(error, "EACCES", "EPERM", "ENOENT", "ENOTDIR", "EINVAL")) throw error;
  }
};

/** Throws a `StorageError` for something at a path that is no folder, such as a link to one. */
export const isFolderThere = (path: string): boolean => {
  const there = lookAt(path);
  if (there === undefined || there.isDirectory()) return there !== undefined;
  const advice = "nothing is read or written through it. Remove it, or move it away";
  throw new StorageError(
    "not-a-store",
    `files store: "${path}" is ${kindOf(there)} where a folder should be, and ${advice}.`,
  );
};

/** Removes a folder and what is in it. Throws a `StorageError` where that is a link, for what it leads to would stay. */
export const removeFolder = (path: string): void => {
  checkFolder(path);
  rmSync(path, { recursive: true, force: true });
};

/** Throws a `StorageError` for what `removeFolder` would not remove. */
export const checkFolder = (path: string): void => {
  if (!isFolderThere(path)) return;
  for (const name of namesIn(path)) {
    const file = join(path, name);
    if (lookAt(file)?.isSymbolicLink() === true) throw noFile(file);
  }
};

/** What is at a path itself, not behind a link there. */
export const lookAt = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

const noFile = (path: string): StorageError => {
  const what = kindOf(lookAt(path));
  const advice = "nothing is read or written through it. Remove it, or move it away";
  return new StorageError("not-a-store", `files store: "${path}" is ${what} where a file should be, and ${advice}.`);
};

const kindOf = (there: Stats | undefined): string => {
  if (there?.isSymbolicLink() === true) return "a symbolic link";
  if (there?.isDirectory() === true) return "a folder";
  if (there?.isFIFO() === true) return "a FIFO";
  if (there?.isSocket() === true) return "a socket";
  return there?.isFile() === true ? "a file" : "a device, or something else";
};

/** Makes durable which files a folder has. */
export const flushFolder = (folder: string): void => {
  // Windows opens no folders, and keeps their entries by itself.
  if (process.platform === "win32") return;
  const file = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};

export const writeAll = (file: number, bytes: Buffer, position: number): void => {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
  }
};

/** All that a file holds; null when there is none. */
export const readIfThere = (path: string): Buffer | null =>
  ifThere(() => {
    const file = openFile(path, "read");
    try {
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  });

/** The names of what is in a folder, in order; none when there is no folder. */
export const namesIn = (folder: string): readonly string[] => ifThere(() => readdirSync(folder).sort()) ?? [];

/** What `use` gives, or null when what it looks for is not there. */
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

/** The bytes of a file from one position to another; fewer where it ends before. */
export const bytesBetween = (file: number, from: number, until: number): Buffer => {
  const bytes = Buffer.allocUnsafe(Math.max(until - from, 0));
  let length = 0;
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, Math.min(bytes.length - length, readingMax), from + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
};

/** Well below what one call to the system may read. */
const readingMax = 2 ** 30;
