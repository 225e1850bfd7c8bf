import { existsSync } from "node:fs";
import { appendFile, mkdir, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { HistoryPort } from "@colloquy/terminal";
import { readTextFile } from "./text-file.ts";

/** Keeps what was typed in a file that only its owner may read, a JSON string a line; of more than twice `most`, the newest are kept. */
export const historyFile = (path: string, most = 1_000): HistoryPort => ({
  load: async () => {
    const inputs = existsSync(path) ? readTextFile(path).split("\n").flatMap(inputIn) : [];
    const newest = inputs.slice(-most);
    if (inputs.length > 2 * most) {
      // Another process sees the one or the other.
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

/** What a line says; nothing where a crash tore it. */
const inputIn = (line: string): readonly string[] => {
  try {
    const input: unknown = JSON.parse(line);
    return typeof input === "string" ? [input] : [];
  } catch {
    return [];
  }
};
