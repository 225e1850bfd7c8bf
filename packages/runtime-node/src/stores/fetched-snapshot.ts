import type { StoredSnapshot } from "@colloquy/host/store";

import { fromStorable, toStorable } from "./storable-text.ts";

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
