import { globSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
import { jsonLines } from "./json-values.ts";
import { readTextFile } from "./text-file.ts";
import { reasonOf } from "@colloquy/cli/terminal";

/** A file with its journal, or a description of the problem. */
export type JournalFile = { readonly path: string } & (
  | { readonly entries: readonly Entry[] }
  | { readonly problem: string }
);

/**
 * Returns the journals in files, and in the `.jsonl` files of folders, in the order of their paths.
 *
 * @throws Error for a path that does not exist, and for a folder without such files.
 */
export const journalFiles = (paths: readonly string[]): readonly JournalFile[] =>
  journalPaths(paths).map(readJournalFile);

/**
 * Returns the files of these paths: the paths themselves, and the `.jsonl` files of folders.
 *
 * @param taken the kind of file that the command takes, for the error about an empty folder.
 * @throws Error as above
 */
export const journalPaths = (paths: readonly string[], taken = "journals in JSON lines"): readonly string[] =>
  paths.flatMap((path) => filesAt(path, taken));

/**
 * Returns the journal in one file.
 *
 * @throws Error for a path that does not exist, and for a folder.
 */
export const journalFile = (path: string): JournalFile => {
  if (statsOf(path).isDirectory()) throw new Error(`"${path}" is a folder; name one .jsonl file`);
  return readJournalFile(path);
};

/** Reads one entry per line, in JSON. Ignores empty lines. */
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
