import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

/** Makes a folder that is removed after the test. */
export const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
