import { importDataset, type RowFormat } from "@colloquy/sessions/datasets";
import type { Host } from "@colloquy/host";
import { readTextFile } from "./text-file.ts";

/** The result of a file: its threads, and its failures. */
export interface ReadFile {
  readonly ids: readonly string[];
  /** The number of lines that could not be read. */
  readonly failures: number;
}

/**
 * Makes a thread of each line of a data set, under drawn ids. Reports each invalid line and continues. A file that is one
 * JSON value over several lines is one row.
 */
export const threadsFromDataset = async (
  host: Host,
  path: string,
  from: RowFormat,
  report: (line: string) => void,
): Promise<ReadFile> => {
  const { threads, problems, losses } = importDataset(rowsIn(readTextFile(path)), { from, at: Date.now() });
  if (threads.length + problems.length === 0) throw new Error("the file is empty");
  for (const { line, reason } of problems) report(`line ${line}: ${reason}`);
  for (const { line, what, why } of losses) report(`not carried: line ${line}: ${what}: ${why}`);
  const ids: string[] = [];
  for (const { entries } of threads) ids.push((await host.importJournal(entries, { threadId: "new" })).id);
  return { ids, failures: problems.length };
};

const rowsIn = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
};
