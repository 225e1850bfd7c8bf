import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Reads the text of a file, without the byte order mark that some programs write.
 *
 * @param check receives the file's stats before it is read; its errors are thrown.
 * @throws Error for a path that does not exist or is not a file: reading a pipe or a device may never end.
 */
export const readTextFile = (path: string, check: (stats: Stats) => void = () => {}): string => {
  // Without the flag, opening a pipe blocks until another process writes to it.
  const file = opened(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error(`"${path}" is a folder; name a file`);
    if (!stats.isFile()) throw new Error(`"${path}" is a pipe or a device; write what comes from it to a file first`);
    check(stats);
    const bytes = readFileSync(file);
    const text = textOf(bytes);
    if (text === null) throw new Error(`"${path}" is not text in UTF-8 or UTF-16; convert it to UTF-8 first`);
    if (text.includes("\0")) throw new Error(`"${path}" is binary; name a file with text in it`);
    return text;
  } finally {
    closeSync(file);
  }
};

/** Returns the text that bytes encode; null if they are neither UTF-8 nor UTF-16 with a byte order mark. */
export const textOf = (bytes: Uint8Array): string | null => {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
};

/** Writes a new file that only its owner may read. @throws Error if the path exists already, even as a broken link. */
export const writeNewFile = (path: string, text: string): void => {
  // "x" follows no link.
  const file = opened(path, "wx", 0o600);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
};

/** A new file that only its owner may read, written piece by piece. */
interface AppendingFile {
  append(piece: string | Uint8Array): void;
  close(): void;
}

/** @throws Error as `writeNewFile` */
export const appendingFile = (path: string): AppendingFile => {
  const file = opened(path, "wx", 0o600);
  return { append: (piece) => writeFileSync(file, piece), close: () => closeSync(file) };
};

/** Returns whether a path is neither a file nor a folder. */
export const isPipeOrDevice = (path: string): boolean => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
};

const opened = (path: string, flags: string | number, mode?: number): number => {
  try {
    return openSync(path, flags, mode);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code === "EEXIST") throw new Error(`"${path}" exists already; choose another name`, { cause: thrown });
    if (code === "ENOENT" && flags === "wx")
      throw new Error(`"${path}" can't be made: the folder "${dirname(path)}" does not exist; create it first`, {
        cause: thrown,
      });
    if (code === "ENOENT") throw new Error(`there is no file or folder "${path}"`, { cause: thrown });
    if (code === "EACCES")
      throw new Error(`"${path}" is not yours to open: its permissions forbid it`, { cause: thrown });
    throw thrown;
  }
};
