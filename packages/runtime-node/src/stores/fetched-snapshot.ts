import type { StoredSnapshot } from "@colloquy/host/store";

import { fromStorable, toStorable } from "./storable-text.ts";

/** Chunks of a snapshot, as they are stored: the one of an id, or with null all but those that are known. */
type FetchChunks = (
  id: string | null,
  known: readonly string[],
) => Promise<Iterable<readonly [id: string, text: string]>>;

/** A snapshot on a server, whose chunks are fetched when they are looked for. */
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
