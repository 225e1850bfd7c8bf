import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeFileSync } from "node:fs";

/**
 * The text of a file, without the byte order mark that some programs put at its beginning.
 *
 * @throws Error for what is not there, and for what is no file: reading a pipe or a device may never end.
 */
export const readTextFile = (path: string): string => {
  // Without the flag, opening a pipe blocks until another process writes to it.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error(`"${path}" is a folder; name a file`);
    if (!stats.isFile()) throw new Error(`"${path}" is a pipe or a device; write what comes from it to a file first`);
    const bytes = readFileSync(file);
    return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : "utf-8").decode(bytes);
  } finally {
    closeSync(file);
  }
};

/**
 * Writes a new file that only its owner may read.
 *
 * @throws Error where something is already, also a link that leads nowhere.
 */
export const writeNewFile = (path: string, text: string): void => {
  const file = createFile(path);
  try {
    writeFileSync(file, text);
  } finally {
    closeSync(file);
  }
};

/** Whether there is something at a path that is neither a file nor a folder. */
export const isPipeOrDevice = (path: string): boolean => {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && !stats.isFile() && !stats.isDirectory();
};

const createFile = (path: string): number => {
  try {
    // "x" follows no link.
    return openSync(path, "wx", 0o600);
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")
      throw new Error(`"${path}" exists already; choose another name`, { cause: thrown });
    throw thrown;
  }
};
