import { globSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
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

/** The files of these paths: themselves, and the `.jsonl` files of folders. @throws Error as above */
export const journalPaths = (paths: readonly string[]): readonly string[] => paths.flatMap(filesAt);

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
  const values: unknown[] = [];
  let text: string;
  try {
    text = readTextFile(path);
  } catch (thrown) {
    return { path, problem: reasonOf(thrown) };
  }
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    try {
      values.push(JSON.parse(line));
    } catch {
      return { path, problem: `line ${index + 1} is not JSON: ${JSON.stringify(line.slice(0, 60))}` };
    }
  }
  const decoded = decodeJournal(values);
  return "left" in decoded ? { path, problem: describeDecodeError(decoded.left) } : { path, entries: decoded.right };
};

const filesAt = (path: string): readonly string[] => {
  if (!statsOf(path).isDirectory()) return [path];
  const files = globSync("**/*.jsonl", { cwd: path })
    .toSorted()
    .map((file) => join(path, file))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true);
  if (files.length === 0) throw new Error(`the folder "${path}" has no .jsonl file in it`);
  return files;
};

const statsOf = (path: string): Stats => {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`there is no file or folder "${path}"; give journals in JSON lines`);
  return found;
};
