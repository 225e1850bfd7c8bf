import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";

/** Returns the folder of recorded conversations; if it is absent, prints that and returns null. */
export const recordingsFolder = (): string | null => {
  const folder = process.env["COLLOQUY_RECORDINGS"] ?? path.join(import.meta.dirname, "../../../../shared/recordings");
  if (existsSync(folder)) return folder;
  console.log(`skipped: no recordings at ${folder} (set COLLOQUY_RECORDINGS to where they are)`);
  return null;
};

/**
 * Returns the records of a file, one per line: `exchanges.jsonl`, or all files of a folder `exchanges`. Returns none if
 * both are absent. The recordings' own page describes them.
 */
export const recordingsOf = (folder: string | null, file: string): readonly unknown[] =>
  folder === null
    ? []
    : globSync([file, `${path.basename(file, ".jsonl")}/*.jsonl`], { cwd: folder })
        .toSorted()
        .flatMap((found) => readFileSync(path.join(folder, found), "utf8").split("\n"))
        .filter((line) => line !== "")
        .map((line): unknown => JSON.parse(line));
