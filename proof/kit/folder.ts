import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Makes a folder, which the caller removes. */
export const newFolder = (name: string, within: string = tmpdir()): string =>
  mkdtempSync(join(within, `colloquy-${name}-`));

/** Returns a folder in memory, if the system has one, for files that need not survive a power cut. */
export const memory = (): string => (existsSync("/dev/shm") ? "/dev/shm" : tmpdir());

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

interface FolderOptions<A> {
  /** Default: the system's temporary folder. */
  readonly within?: string;
  /** Whether the folder is kept, given the result. Default: it is removed. */
  readonly isKept?: (value: A) => boolean;
}

/** Makes a folder for `use`, and removes it afterwards unless it is to be kept. */
export const inFolder = async <A>(
  name: string,
  use: (folder: string) => Promise<A>,
  { within, isKept = () => false }: FolderOptions<A> = {},
): Promise<A> => {
  const folder = newFolder(name, within);
  let kept = false;
  try {
    const value = await use(folder);
    kept = isKept(value);
    return value;
  } finally {
    if (!kept) removeFolder(folder);
  }
};
