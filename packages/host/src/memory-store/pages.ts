import type { Entry } from "@colloquy/machine";
import { comparePlaces, type ListingPlace } from "../ports/listing.ts";
import {
  checkedSearch,
  excerptOf,
  type SearchHit,
  type SearchOptions,
  type SearchPage,
  textOfEntry,
  wordsOf,
} from "../ports/searching.ts";

/** A thread and all that was appended to it. */
export interface ReadThread extends ListingPlace {
  readonly entries: readonly Entry[];
}

/**
 * The page that is wanted of what is found by words: newest threads first, in each the newest entry. Throws a
 * `RangeError` for options that are invalid.
 */
export const pageOfHits = (threads: readonly ReadThread[], query: string, options: SearchOptions): SearchPage => {
  const { words, limit } = checkedSearch(query, options);
  const { threadId, after } = options;
  const begin = after === undefined ? null : placeOf(after);
  const found = threads
    .filter((thread) => threadId === undefined || thread.threadId === threadId)
    .flatMap((thread) => thread.entries.flatMap((entry) => hitsIn(thread, entry, words)))
    .filter(({ place }) => begin === null || compareHits(place, begin) < 0)
    .sort((one, other) => compareHits(other.place, one.place));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    hits: page.map(({ hit }) => hit),
    next: last === undefined || found.length <= limit ? null : JSON.stringify(last.place),
  };
};

const hitsIn = (
  { threadId, createdAt }: ReadThread,
  entry: Entry,
  words: readonly string[],
): readonly { readonly hit: SearchHit; readonly place: HitPlace }[] => {
  const text = textOfEntry(entry);
  const said = new Set(wordsOf(text));
  if (words.length === 0 || !words.every((word) => said.has(word))) return [];
  const { seq, event } = entry;
  return [{ hit: { threadId, seq, at: event.at, excerpt: excerptOf(text, words) }, place: [createdAt, threadId, seq] }];
};

/** When its thread was made, the thread's id, its seq. */
type HitPlace = readonly [number, string, number];

const compareHits = ([createdAt, threadId, seq]: HitPlace, other: HitPlace): number =>
  comparePlaces({ createdAt, threadId }, { createdAt: other[0], threadId: other[1] }) || seq - other[2];

const placeOf = (cursor: string): HitPlace => {
  try {
    const place: unknown = JSON.parse(cursor);
    if (Array.isArray(place)) {
      const [createdAt, threadId, seq] = place as readonly unknown[];
      if (typeof createdAt === "number" && typeof threadId === "string" && typeof seq === "number")
        return [createdAt, threadId, seq];
    }
  } catch {}
  throw new RangeError(`search: after is ${JSON.stringify(cursor)}; it must be the next of a page that was found`);
};
