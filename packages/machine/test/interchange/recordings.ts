import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** Where the recorded conversations are; null, with a line that says so, where they are absent. */
export const recordingsFolder = (): string | null => {
  const folder = path.resolve(process.env["COLLOQUY_RECORDINGS"] ?? "../shared/recordings");
  if (existsSync(folder)) return folder;
  console.log(`skipped: no recordings at ${folder} (set COLLOQUY_RECORDINGS to where they are)`);
  return null;
};

/** The records of a file, one a line; none where there are no recordings. The recordings' own page says what each file holds. */
export const recordingsOf = (folder: string | null, file: string): readonly unknown[] =>
  folder === null
    ? []
    : readFileSync(path.join(folder, file), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line): unknown => JSON.parse(line));
