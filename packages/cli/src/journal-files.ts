import { globSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
import { readTextFile } from "./text-file.ts";
import type { NamedJournal } from "@colloquy/machine/inspect";
import { named, oneLine, type Printer, reasonOf } from "@colloquy/cli/terminal";

/** A journal by the name of its file or thread, or the problem with it. */
export type ReadJournal = { readonly name: string } & (
  | { readonly entries: readonly Entry[] }
  | { readonly problem: string }
);

/**
 * Returns the journals in files, and in the `.jsonl` files of folders, in the order of their paths.
 *
 * @throws Error for a path that does not exist, and for a folder without such files.
 */
export const journalFiles = (paths: readonly string[]): readonly ReadJournal[] =>
  journalPaths(paths).map(readJournalFile);

/** Returns the readable ones of journals for a table, and reports the others. */
export const readableJournals = (journals: readonly ReadJournal[], errors: Printer): readonly NamedJournal[] =>
  journals.flatMap((journal) => {
    const name = named(journal.name);
    if ("entries" in journal) return [{ name, entries: journal.entries }];
    errors.line(`colloquy: ${name} can't be read: ${oneLine(journal.problem)}`);
    return [];
  });

/**
 * Returns the files of these paths: the paths themselves, and the `.jsonl` files of folders.
 *
 * @param taken the kind of file that the command takes, for the error about an empty folder.
 * @throws Error as above
 */
export const journalPaths = (paths: readonly string[], taken = "journals in JSON lines"): readonly string[] =>
  paths.flatMap((path) => filesAt(path, taken));

/** Returns the journal in one file. @throws Error for a path that does not exist, and for a folder. */
export const journalFile = (path: string): ReadJournal => {
  if (statsOf(path).isDirectory()) throw new Error(`"${path}" is a folder; name one .jsonl file`);
  return readJournalFile(path);
};

const readJournalFile = (path: string): ReadJournal => {
  try {
    const decoded = decodeJournal(jsonLines(readTextFile(path)).map(({ value }) => value));
    if ("left" in decoded) return { name: path, problem: describeDecodeError(decoded.left) };
    return { name: path, entries: decoded.right };
  } catch (thrown) {
    return { name: path, problem: reasonOf(thrown) };
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

/** A JSON value of a file, which contains one value, or one per line. */
interface JsonValue {
  readonly value: unknown;
  /** The line of the value; null for the only value of a file. */
  readonly line: number | null;
}

/** Returns the value of each line; empty lines have none. @throws Error that names the first line that is not JSON */
const jsonLines = (text: string): readonly (JsonValue & { readonly line: number })[] => {
  const lines = text.split("\n").flatMap((content, index) => (content.trim() === "" ? [] : [{ content, index }]));
  if (lines.length === 0) throw new Error("the file is empty");
  return lines.map(({ content, index }) => {
    try {
      const value: unknown = JSON.parse(content);
      return { value, line: index + 1 };
    } catch (thrown) {
      // A program that was stopped while it wrote leaves a line without an end.
      const isCutOff = index > 0 && index === text.split("\n").length - 1;
      const what = isCutOff ? `the last line, ${index + 1}, is cut off` : `line ${index + 1} is not JSON`;
      throw new Error(`${what}: ${JSON.stringify(content.slice(0, 60))}`, { cause: thrown });
    }
  });
};

/** Returns the value of a whole file, or one for each line. @throws Error as `jsonLines` */
export const jsonValues = (text: string): readonly JsonValue[] => {
  const whole = parsed(text);
  return whole === null ? jsonLines(text) : [{ ...whole, line: null }];
};

const parsed = (text: string): { readonly value: unknown } | null => {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
};
