import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

/** Where the recorded conversations are; null, with a line that says so, where they are absent. */
export const recordingsFolder = (): string | null => {
  const folder = process.env["COLLOQUY_RECORDINGS"] ?? path.join(import.meta.dirname, "../../../../shared/recordings");
  if (existsSync(folder)) return folder;
  console.log(`skipped: no recordings at ${folder} (set COLLOQUY_RECORDINGS to where they are)`);
  return null;
};

/**
 * The records of a kind of file, one a line: `exchanges.jsonl`, or the files of a folder `exchanges`. None where there
 * are none. The recordings' own page says what each holds.
 */
export const recordingsOf = (folder: string | null, file: string): readonly unknown[] =>
  folder === null
    ? []
    : globSync([file, `${path.basename(file, ".jsonl")}/*.jsonl`], { cwd: folder })
        .toSorted()
        .flatMap((found) => readFileSync(path.join(folder, found), "utf8").split("\n"))
        .filter((line) => line !== "")
        .map((line): unknown => JSON.parse(line));
