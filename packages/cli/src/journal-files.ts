import { globSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
import { jsonLines } from "./json-values.ts";
import { readTextFile } from "./text-file.ts";
import { reasonOf } from "@colloquy/terminal";

/** A file, and the journal in it; or in words why there is none. */
export type JournalFile = { readonly path: string } & (
  | { readonly entries: readonly Entry[] }
  | { readonly problem: string }
);

/**
 * The journals in files, and in the `.jsonl` files of folders, in the order of their paths.
 *
 * @throws Error for a path where nothing is, and for a folder without such files.
 */
export const journalFiles = (paths: readonly string[]): readonly JournalFile[] =>
  journalPaths(paths).map(readJournalFile);

/**
 * The files of these paths: themselves, and the `.jsonl` files of folders.
 *
 * @param taken what the command takes, for the error that nothing is there.
 * @throws Error as above
 */
export const journalPaths = (paths: readonly string[], taken = "journals in JSON lines"): readonly string[] =>
  paths.flatMap((path) => filesAt(path, taken));

/**
 * The journal in one file.
 *
 * @throws Error for a path where nothing is, and for a folder.
 */
export const journalFile = (path: string): JournalFile => {
  if (statsOf(path).isDirectory()) throw new Error(`"${path}" is a folder; name one .jsonl file`);
  return readJournalFile(path);
};

/** A JSON value a line, each an entry. Empty lines do not count. */
const readJournalFile = (path: string): JournalFile => {
  try {
    const decoded = decodeJournal(jsonLines(readTextFile(path)).map(({ value }) => value));
    return "left" in decoded ? { path, problem: describeDecodeError(decoded.left) } : { path, entries: decoded.right };
  } catch (thrown) {
    return { path, problem: reasonOf(thrown) };
  }
};

const filesAt = (path: string, taken: string): readonly string[] => {
  if (!statsOf(path, taken).isDirectory()) return [path];
  const files = globSync("**/*.jsonl", { cwd: path })
    .toSorted()
    .map((file) => join(path, file))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true);
  if (files.length === 0) throw new Error(`the folder "${path}" has no .jsonl file in it`);
  return files;
};

const statsOf = (path: string, taken = "a journal in JSON lines"): Stats => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`there is no file or folder "${path}"; give ${taken}`);
  return found;
};
