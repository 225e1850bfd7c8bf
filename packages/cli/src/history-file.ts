import { existsSync } from "node:fs";
import { appendFile, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { HistoryPort } from "@colloquy/cli/terminal";
import { readTextFile } from "./text-file.ts";

/**
 * Stores typed inputs in a file that only its owner may read, one JSON string per line. If there are more than twice
 * `most`, only the newest `most` are kept.
 */
export const historyFile = (path: string, most = 1_000): HistoryPort => ({
  load: async () => {
    const inputs = existsSync(path) ? readTextFile(path).split("\n").flatMap(inputIn) : [];
    const newest = inputs.slice(-most);
    if (inputs.length > 2 * most) {
      // Renamed, so that other processes see either the old or the new file.
      await writeFile(`${path}.new`, newest.map(lineOf).join(""), { mode: 0o600 });
      await rename(`${path}.new`, path);
    }
    return newest;
  },
  append: async (text) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await appendFile(path, lineOf(text), { mode: 0o600 });
  },
});

const lineOf = (text: string): string => `${JSON.stringify(text)}\n`;

/** Returns the input of a line; none if a crash cut the line off. */
const inputIn = (line: string): readonly string[] => {
  try {
    const input: unknown = JSON.parse(line);
    return typeof input === "string" ? [input] : [];
  } catch {
    return [];
  }
};
