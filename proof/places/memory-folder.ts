import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { removeFolder } from "../kit/folder.ts";

/** A new folder in memory, where the system has such, for as long as it is used: for what has no power cut to survive. */
export const inMemoryFolder = async <A>(use: (folder: string) => Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "colloquy-places-"));
  try {
    return await use(folder);
  } finally {
    removeFolder(folder);
  }
};
