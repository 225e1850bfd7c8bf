import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder. The caller removes it. */
export const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `colloquy-${name}-`));

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A new folder for as long as it is used, and longer when what came of it is to be kept. */
export const inFolder = async <A>(
  name: string,
  use: (folder: string) => Promise<A>,
  isKept: (value: A) => boolean = () => false,
): Promise<A> => {
  const folder = newFolder(name);
  let kept = false;
  try {
    const value = await use(folder);
    kept = isKept(value);
    return value;
  } finally {
    if (!kept) removeFolder(folder);
  }
};
