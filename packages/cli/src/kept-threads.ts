import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Store } from "@colloquy/host";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";
import { isPipeOrDevice } from "./text-file.ts";

/**
 * Opens where threads are kept: a folder, which is one that is there or is written with a `/` at its end, as files in JSON
 * lines; anything else as a SQLite file. Makes it where it is not there.
 *
 * @throws Error where the folder that it is to be in is not there: its name may be mistyped; and for a pipe or a device.
 */
export const openStore = (path: string): Store => {
  const around = dirname(path);
  if (!existsSync(around))
    throw new Error(`--store is "${path}", and the folder "${around}" does not exist; create it first`);
  if (isPipeOrDevice(path))
    throw new Error(`--store is "${path}", which is a pipe or a device; name a file or a folder`);
  return isFolder(path) ? filesStore({ folder: path }) : sqliteStore({ path });
};

/**
 * Opens a store that is there, for a while.
 *
 * @throws Error for a path where nothing is.
 */
export const withStore = async <Result>(
  path: string | undefined,
  use: (store: Store) => Promise<Result>,
): Promise<Result> => {
  if (path === undefined) throw new Error("--store is missing: the SQLite file, or the folder, that keeps the threads");
  if (!existsSync(path)) throw new Error(`there is no file or folder "${path}" that keeps threads`);
  const store = openStore(path);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
};

const isFolder = (path: string): boolean =>
  path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
