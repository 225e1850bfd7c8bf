import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { ListOptions, Store, StoredThread } from "@colloquy/host";
import { failureText } from "@colloquy/cli/terminal";
import type { ReadJournal } from "./journal-files.ts";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";
import { withoutSecrets, withoutUser } from "./models.ts";
import { loaded } from "./optional-modules.ts";
import { isPipeOrDevice } from "./text-file.ts";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import type { Entry } from "@colloquy/machine";
import { withRedactions } from "@colloquy/host/store";

/**
 * Opens a store. PostgreSQL and Redis are given by their URL. An existing folder, or a path that ends with `/`, is a
 * store of files in JSON lines. Any other path is a SQLite file. Creates the file or folder if necessary.
 *
 * @throws Error for a pipe or a device, and if the client of a server is not installed. Also if the parent folder does
 * not exist, because its name may be mistyped.
 */
export const openStore = async (place: string): Promise<Store> => {
  const shown = placeOfStore(place);
  if (isServer(place) && place.startsWith("postgres")) {
    const { postgresStore } = await loaded(shown, ["pg"], () => import("@colloquy/runtime-node/postgres"));
    return postgresStore({ connectionString: place });
  }
  if (isServer(place)) {
    const { redisStore } = await loaded(shown, ["redis"], () => import("@colloquy/runtime-node/redis"));
    return redisStore({ url: place });
  }
  const around = dirname(place);
  if (!existsSync(around))
    throw new Error(`--store is "${shown}", and the folder "${withoutUser(around)}" does not exist; create it first`);
  if (isPipeOrDevice(place))
    throw new Error(`--store is "${shown}", which is a pipe or a device; name a file or a folder`);
  const store = isFolder(place) ? filesStore({ folder: place }) : sqliteStore({ path: place });
  // A store opens with its first call, and a command is to say at its start what is wrong.
  await store.list({ limit: 1 });
  return store;
};

/**
 * Returns the place of a store for a person, without a server's user and password.
 *
 * @throws Error for a URL of another kind
 */
export const placeOfStore = (place: string): string => {
  const [, scheme, slashes] = /^([a-z][\w+.-]+):(\/\/)?/i.exec(place) ?? [];
  if (scheme === undefined || existsSync(place)) return place;
  const isOfServer = /^(?:postgres(?:ql)?|rediss?)$/.test(scheme);
  // A file may have such a name.
  if (slashes === undefined && !isOfServer) return withoutUser(place);
  if (!isServer(place))
    throw new Error(`--store is a URL of "${scheme}"; there are postgres:// and redis:// (rediss:// for TLS)`);
  if (!URL.canParse(place)) throw new Error(`--store begins with ${scheme}:// and is not a URL`);
  return withoutSecrets(place);
};

/** Opens an existing store while `work` runs. @throws Error for a path that does not exist. */
export const withStore = async <Result>(
  place: string | undefined,
  use: (store: Store) => Promise<Result>,
): Promise<Result> => {
  const store = await openStore(storeThatIsThere(place));
  try {
    return await use(store);
  } finally {
    await store.close();
  }
};

/** Returns the place of an existing store. @throws Error if none is given, and for a path that does not exist */
export const storeThatIsThere = (place: string | undefined): string => {
  if (place === undefined)
    throw new Error("--store is missing: the SQLite file, the folder or the URL that keeps the threads");
  if (!isServer(placeOfStore(place)) && !existsSync(place))
    throw new Error(`there is no file or folder "${placeOfStore(place)}" that keeps threads`);
  return place;
};

const isServer = (place: string): boolean => /^(?:postgres|postgresql|redis|rediss):\/\//.test(place);

const isFolder = (path: string): boolean =>
  path.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Returns the SQLite file of `--session`. @throws Error for a journal or a folder */
export const sessionFile = (path: string): string => {
  if (placeOfStore(path) !== path || isFolder(path))
    throw new Error(`--session is "${placeOfStore(path)}", and no SQLite file; give it as --store, with --continue`);
  const database = `${path.replace(/\.jsonl?$/i, "")}.db`;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === true && stats.size > 0 && "{[".includes(firstByteOf(path)))
    throw new Error(
      `--session is "${path}", which is JSON; a session is a SQLite file. Make one of it: colloquy import "${path}" --store "${database}", then give --session "${database}"`,
    );
  if (/\.jsonl?$/i.test(path) && !(stats !== undefined && stats.size > 0))
    throw new Error(
      `--session is "${path}", and a session is a SQLite file, not JSON; give --session "${database}", and write JSON with colloquy export --all --as chat --to FOLDER --store "${database}"`,
    );
  return path;
};

const firstByteOf = (path: string): string => {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(1);
    readSync(file, bytes, 0, 1, 0);
    return bytes.toString("latin1");
  } finally {
    closeSync(file);
  }
};

/** Yields all threads of a store, newest first. */
export const storedThreads = async function* (store: Store): AsyncGenerator<StoredThread> {
  let options: ListOptions | null = {};
  while (options !== null) {
    const { threads, next } = await store.list(options);
    yield* threads;
    options = next === null ? null : { after: next };
  }
};

/** Yields the journals of threads, or of all threads of a store. @param ids null for all */
export const storedJournals = async function* (
  store: Store,
  ids: readonly string[] | null,
): AsyncGenerator<ReadJournal> {
  const read = async (name: string): Promise<ReadJournal> => {
    try {
      return { name, entries: storedEntries(name, await store.read(name)) };
    } catch (thrown) {
      return { name, problem: failureText(thrown) };
    }
  };
  if (ids === null) for await (const { threadId } of storedThreads(store)) yield await read(threadId);
  else for (const id of ids) yield await read(id);
};

/**
 * Decodes the stored journal of a thread. Redactions are applied again, in case a crash interrupted one.
 *
 * @throws Error for a thread that does not exist, or cannot be read.
 */
export const storedEntries = (threadId: string, stored: readonly unknown[]): readonly Entry[] => {
  if (stored.length === 0) throw new Error(`there is no thread "${threadId}"; \`colloquy threads\` lists them`);
  const decoded = decodeJournal(stored);
  if ("left" in decoded) throw new Error(`thread "${threadId}" can't be read: ${describeDecodeError(decoded.left)}`);
  return withRedactions(decoded.right);
};
