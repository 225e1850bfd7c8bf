import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";

/** A folder for the tests of one file, which is removed after them. */
export interface TestFolder {
  readonly folder: string;
  /** Returns the path of a file in it. */
  readonly at: (name: string) => string;
  /** Writes a file in it, with the folders around it, and returns its path. */
  readonly write: (name: string, content: string | Buffer) => string;
}

/** Makes the folder. */
export const testFolder = (): TestFolder => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const at = (name: string): string => join(folder, name);
  const write = (name: string, content: string | Buffer): string => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    return at(name);
  };
  return { folder, at, write };
};
