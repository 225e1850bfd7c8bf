import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";

/** Puts a text in the place of a file, or makes it: whoever reads it finds the old one or the new one. */
export const replaceFile = (path: string, text: string | Buffer, flush: boolean): void => {
  const part = `${path}${partEnding}`;
  try {
    const file = openSync(part, "w");
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

/** Makes durable which files a folder has. */
export const flushFolder = (folder: string): void => {
  // Windows opens no folders, and keeps their entries by itself.
  if (process.platform === "win32") return;
  const file = openSync(folder, "r");
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
export const readIfThere = (path: string): Buffer | null => ifThere(() => readFileSync(path));

/** The names of what is in a folder, in order; none when there is no folder. */
export const namesIn = (folder: string): readonly string[] => ifThere(() => readdirSync(folder).sort()) ?? [];

/** What `use` gives, or null when what it looks for is not there. */
export const ifThere = <A>(use: () => A): A | null => {
  try {
    return use();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
};

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
