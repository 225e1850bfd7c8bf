import { StorageError, type StoredSnapshot } from "@colloquy/host/store";

/** Waits for a server, which may have died silently. Throws a `StorageError` (`unreachable`) after the timeout. */
export const answerInTime = async <A>(timeoutMs: number, answer: Promise<A>, store: string): Promise<A> => {
  if (timeoutMs === Infinity) return answer;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const advice = "look at the server and the network, and try again. Whether the last write arrived is not known";
    const message = `${store}: no answer within ${timeoutMs} ms; ${advice}.`;
    timer = setTimeout(() => reject(new StorageError("unreachable", message)), timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Runs work at the first call, and repeats it at the next call if it failed. */
export const untilDone = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | null = null;
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    }));
};

/** Short, as it is the longest wait for a dead holder. A live one renews the lease three times in that time. */
export const serverLeaseTtlMs = 4_000;

/** Fetches stored chunks of a snapshot: the chunk of an id, or with null all chunks but the known ones. */
type FetchChunks = (
  id: string | null,
  known: readonly string[],
) => Promise<Iterable<readonly [id: string, text: string]>>;

/** Makes a snapshot of a server's store. Its chunks are fetched on demand. */
export const fetchedSnapshot = (head: string, fetchChunks: FetchChunks): StoredSnapshot => {
  const chunks = new Map<string, string>();
  return {
    head: fromStorable(head),
    chunk: (id) => {
      const text = chunks.get(toStorable(id));
      return text === undefined ? undefined : fromStorable(text);
    },
    fetch: async (chunk) => {
      const found = await fetchChunks(chunk === null ? null : toStorable(chunk), [...chunks.keys()]);
      for (const [id, text] of found) chunks.set(id, text);
    },
  };
};

/** Turns a text into JSON after a mark if UTF-8 (lone surrogates) or PostgreSQL (NUL) cannot hold it. */
export const toStorable = (text: string): string =>
  text.isWellFormed() && !text.includes("\0") && !text.startsWith(mark) ? text : mark + JSON.stringify(text);

export const fromStorable = (stored: string): string =>
  // Only `toStorable` writes the mark, before the JSON of a string.
  stored.startsWith(mark) ? (JSON.parse(stored.slice(mark.length)) as string) : stored;

const mark = "\u0001";
