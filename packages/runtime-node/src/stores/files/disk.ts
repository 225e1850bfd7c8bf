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

/** Files belong to the process's user alone. The mode is set on creation and never changed. */
const fileMode = 0o600;
const folderMode = 0o700;

/**
 * Opens without following links and without waiting, as for a FIFO that has no reader. Windows has neither flag, and an
 * absent flag has no effect.
 */
const asIs = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a file. Throws a `StorageError` if it is a link, a folder or a FIFO. */
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

/** Creates or replaces a file atomically: a reader finds the old text or the new one. Requires the lock. */
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

/** The ending of a file's name while its text is incomplete. */
export const partEnding = ".part";

/**
 * Creates a file, and replaces one that a crash left incomplete. If several processes do so at once, each gets its own
 * file.
 */
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

/** Throws a `StorageError` if a path leads to anything but a file. */
export const checkFile = (path: string): void => {
  const there = lookAt(path);
  if (there !== undefined && !there.isFile()) throw noFile(path);
};

/** Creates a folder inside the store's folder, unless it exists. */
export const makeFolder = (path: string): void => {
  if (!isFolderThere(path)) mkdirSync(path, { mode: folderMode });
};

/** Creates the folder of a store if its parent exists. The folder itself may be a link. */
export const makeStoreFolder = (path: string, flush: boolean): void => {
  try {
    mkdirSync(path, { mode: folderMode });
  } catch (error) {
    // Opening the store reports the problem, if there is one.
    if (!isCode(error, "EEXIST", "ENOENT")) throw error;
  }
  if (!flush) return;
  try {
    // Flush an existing folder too, since the process that created it may not have.
    flushFolder(dirname(path));
  } catch (error) {
    // A parent may be a folder that other users can only enter. Opening the store's folder reports any other problem.
    if (!isCode(error, "EACCES", "EPERM", "ENOENT", "ENOTDIR", "EINVAL")) throw error;
  }
};

/** Checks whether a path has a folder. Throws a `StorageError` if it has anything else, such as a link to one. */
export const isFolderThere = (path: string): boolean => {
  const there = lookAt(path);
  if (there === undefined || there.isDirectory()) return there !== undefined;
  const advice = "nothing is read or written through it. Remove it, or move it away";
  throw new StorageError(
    "not-a-store",
    `files store: "${path}" is ${kindOf(there)} where a folder should be, and ${advice}.`,
  );
};

/** Removes a folder with its files. Throws a `StorageError` if one of them is a link, whose target would remain. */
export const removeFolder = (path: string): void => {
  checkFolder(path);
  rmSync(path, { recursive: true, force: true });
};

/** Throws a `StorageError` if `removeFolder` would not remove a folder. */
export const checkFolder = (path: string): void => {
  if (!isFolderThere(path)) return;
  for (const name of namesIn(path)) {
    const file = join(path, name);
    if (lookAt(file)?.isSymbolicLink() === true) throw noFile(file);
  }
};

/** Returns the file status of a path itself, not of a link's target. */
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

/** Flushes the list of files in a folder to the disk. */
export const flushFolder = (folder: string): void => {
  // Windows cannot open folders, and stores their entries by itself.
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

/** Reads a whole file; returns null if there is none. */
export const readIfThere = (path: string): Buffer | null =>
  ifThere(() => {
    const file = openFile(path, "read");
    try {
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  });

/** Returns the sorted names in a folder; none if the folder does not exist. */
export const namesIn = (folder: string): readonly string[] => ifThere(() => readdirSync(folder).sort()) ?? [];

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
    const count = readSync(file, bytes, length, Math.min(bytes.length - length, readingMax), from + length);
    if (count === 0) break;
    length += count;
  }
  return bytes.subarray(0, length);
};

/** The bytes of one read, well below the system's limit. */
const readingMax = 2 ** 30;
