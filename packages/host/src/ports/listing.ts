import { canonicalText, type Entry, type Json, type JsonObject } from "@colloquy/machine";
import { kinds, type OptionKinds, problemOfOptions } from "../boundary/option-kinds.ts";

/** The options of a listing of threads. */
export interface ListOptions {
  /** By the time of their creation; those of the same millisecond by id. Default `newest`. */
  readonly order?: "newest" | "oldest";
  /** The `next` of the previous page. */
  readonly after?: string;
  /** The largest number of threads to return: a whole number of 1 or more. Default 100. */
  readonly limit?: number;
  /** Members that a thread's metadata must have, each equal. */
  readonly metadata?: JsonObject;
  readonly created?: TimeRange;
  /** By the time of the newest entry. */
  readonly updated?: TimeRange;
}

/** In milliseconds since the epoch. */
export interface TimeRange {
  /** Included. */
  readonly from?: number;
  /** Not included. */
  readonly until?: number;
}

export interface ThreadPage {
  readonly threads: readonly StoredThread[];
  /** The cursor of the next page; null if there is none. Opaque, and valid forever. */
  readonly next: string | null;
}

/** A thread, as its journal describes it. */
export interface StoredThread {
  readonly threadId: string;
  /** The seq of its newest entry. */
  readonly seq: number;
  /** In milliseconds since the epoch: the time of the first event, and below that of the newest. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: JsonObject;
}

/** The place of a thread in a listing. */
export interface ListingPlace {
  readonly createdAt: number;
  readonly threadId: string;
}

/** Returns list options with defaults, and the place where the page starts. @throws RangeError */
export const checkedListing = (
  options: ListOptions = {},
): { readonly order: "newest" | "oldest"; readonly limit: number; readonly after: ListingPlace | null } => {
  const problem = problemOfOptions("list", options, listOptionKinds);
  if (problem !== null) throw new RangeError(problem);
  const { order = "newest", limit = 100, after, created, updated } = options;
  for (const [name, range = {}] of Object.entries({ created, updated })) {
    const wrong = problemOfOptions<TimeRange>(`list: ${name}`, range, { from: time, until: time });
    if (wrong !== null) throw new RangeError(wrong);
  }
  return { order, limit, after: after === undefined ? null : placeOf(after) };
};

const listOptionKinds: OptionKinds<ListOptions> = {
  order: kinds.oneOf("newest", "oldest"),
  after: kinds.anything,
  limit: kinds.whole(1),
  metadata: kinds.anything,
  created: kinds.anything,
  updated: kinds.anything,
};

const time = kinds.word("a time in milliseconds since the epoch", kinds.number.fits);

export const cursorOf = ({ createdAt, threadId }: ListingPlace): string => JSON.stringify([createdAt, threadId]);

/** Returns whether a thread matches the options, apart from `limit`, `order` and `after`. */
export const isListed = (thread: StoredThread, { metadata, created, updated }: ListOptions): boolean =>
  isWithin(thread.createdAt, created) && isWithin(thread.updatedAt, updated) && hasMembers(thread.metadata, metadata);

/** Returns a page of all threads. `threads` is called once the options are valid. @throws RangeError */
export const pageOfThreads = (threads: () => Iterable<StoredThread>, options: ListOptions = {}): ThreadPage => {
  const { order, limit, after } = checkedListing(options);
  const compare = (one: ListingPlace, other: ListingPlace): number =>
    order === "oldest" ? comparePlaces(one, other) : comparePlaces(other, one);
  const wanted = [...threads()]
    .filter((thread) => (after === null || compare(thread, after) > 0) && isListed(thread, options))
    .sort(compare);
  const page = wanted.slice(0, limit);
  const last = page.at(-1);
  return { threads: page, next: last === undefined || wanted.length <= limit ? null : cursorOf(last) };
};

/** Compares threads by the time of their creation, oldest first. Ids compare by code point, as in UTF-8. */
export const comparePlaces = (one: ListingPlace, other: ListingPlace): number =>
  one.createdAt - other.createdAt || compareTexts(one.threadId, other.threadId);

/** Returns the facts about a thread that these entries have, for stores that keep them beside the journal. */
export const factsOf = (
  entries: readonly Entry[],
): { readonly createdAt?: number; readonly metadata?: JsonObject; readonly updatedAt?: number } => {
  const facts: { createdAt?: number; metadata?: JsonObject; updatedAt?: number } = {};
  for (const { event } of entries) {
    facts.updatedAt = event.at;
    if (event.type === "thread.started") facts.createdAt = event.at;
    if (event.type === "thread.started") facts.metadata = event.metadata ?? {};
    if (event.type === "metadata.changed") facts.metadata = event.metadata;
  }
  return facts;
};

const placeOf = (cursor: string): ListingPlace => {
  try {
    const place: unknown = JSON.parse(cursor);
    if (Array.isArray(place) && typeof place[0] === "number" && typeof place[1] === "string")
      return { createdAt: place[0], threadId: place[1] };
  } catch {}
  throw new RangeError(`list: after is ${JSON.stringify(cursor)}; it must be the next of a page that was listed`);
};

const isWithin = (at: number, { from = -Infinity, until = Infinity }: TimeRange = {}): boolean =>
  at >= from && at < until;

/** Returns whether metadata has all wanted members. */
const hasMembers = (metadata: JsonObject, wanted: JsonObject = {}): boolean =>
  Object.entries(wanted).every(
    ([name, value]: [string, Json | undefined]) =>
      Object.hasOwn(metadata, name) && canonicalText(metadata[name]) === canonicalText(value),
  );

const compareTexts = (one: string, other: string): number => {
  const left = one[Symbol.iterator]();
  const right = other[Symbol.iterator]();
  for (;;) {
    const { value: mine } = left.next();
    const { value: yours } = right.next();
    if (mine === undefined || yours === undefined) return Number(mine !== undefined) - Number(yours !== undefined);
    if (mine !== yours) return Number(mine.codePointAt(0)) - Number(yours.codePointAt(0));
  }
};
