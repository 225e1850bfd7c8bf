import type { Content, ContentPart, Entry, MessageDraft, ReplyDraft, SeedDraft } from "@colloquy/machine";
import { kinds, problemOfOptions } from "../boundary/option-kinds.ts";
import { comparePlaces, type ListingPlace } from "./listing.ts";

/** The options of a search. */
export interface SearchOptions {
  /** Only this thread. Default: all. */
  readonly threadId?: string;
  /** The largest number of hits to return: a whole number of 1 or more. Default 20. */
  readonly limit?: number;
  /** The `next` of the previous page. */
  readonly after?: string;
}

export interface SearchPage {
  /** In an order that the store chooses and keeps, so that pages fit together. */
  readonly hits: readonly SearchHit[];
  /** The cursor of the next page; null if there is none. */
  readonly next: string | null;
}

/** An entry whose text has all the words. */
export interface SearchHit {
  readonly threadId: string;
  readonly seq: number;
  /** The time of its event, in milliseconds since the epoch. */
  readonly at: number;
  /** Its text, or the part around the words. */
  readonly excerpt: string;
}

/** Returns the words and the limit of a search. @throws RangeError for invalid options */
export const checkedSearch = (
  words: string,
  options: SearchOptions = {},
): { readonly words: readonly string[]; readonly limit: number } => {
  const problem = problemOfOptions("search", options, {
    threadId: kinds.anything,
    limit: kinds.whole(1),
    after: kinds.anything,
  });
  if (problem !== null) throw new RangeError(problem);
  const { limit = 20 } = options;
  return { words: wordsOf(words), limit };
};

/**
 * Returns the text of an entry: the texts of its messages, results and system prompts; of very long ones the start.
 * Arguments of tool calls, metadata and data fields are not included. Empty if it has no text, and if it was redacted.
 */
export const textOfEntry = (entry: Entry): string => {
  const text = wholeTextOf(entry);
  // Half a surrogate pair at the end is not a character.
  return text.length <= searchedLength ? text : text.slice(0, searchedLength).replace(/[\ud800-\udbff]$/, "");
};

const wholeTextOf = (entry: Entry): string => {
  if (entry.redacted === true) return "";
  const { event } = entry;
  switch (event.type) {
    case "thread.started":
      return lines([...systemTexts(event.system), ...(event.seed ?? []).flatMap(draftTexts)]);
    case "ask.received":
      return lines(contentTexts(event.input));
    case "message.appended":
      return lines(contentTexts(event.message.content));
    case "round.appended":
      return lines([event.reply, ...event.results].flatMap(({ content }) => contentTexts(content)));
    case "system.changed":
      return lines(systemTexts(event.system));
    case "llm.completed":
      return lines(contentTexts(event.reply.content));
    case "llm.failed":
    case "cancel.requested":
      return lines(contentTexts(event.partial?.content));
    case "tool.completed":
    case "tool.failed":
      return lines(contentTexts(event.content));
    case "turn.added":
      return lines(event.messages.flatMap(draftTexts));
    default:
      return "";
  }
};

/**
 * Returns the words of a text, each once, in the form in which they compare: without case and accents. A word is a run
 * of letters and digits. In a script without spaces between words, each character is one.
 */
export const wordsOf = (text: string): readonly string[] => [
  ...new Set(
    foldedOf(text)
      .match(wordPattern)
      ?.map((word) => word.slice(0, wordLength)),
  ),
];

/** Returns the part of a text around the first of the words, with an ellipsis for each part that was left out. */
export const excerptOf = (text: string, words: readonly string[]): string => {
  const start = Math.max(0, Math.min(placeOfWord(text, words) - excerptLength / 4, text.length - excerptLength));
  const end = Math.min(text.length, start + excerptLength);
  const part = text.slice(start, end);
  // No half of a surrogate pair at either end.
  const whole = part.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");
  return `${start > 0 ? "…" : ""}${whole}${end < text.length ? "…" : ""}`;
};

/** Removes case and the accents of alphabets only: in other scripts a mark may be a vowel. */
const foldedOf = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .toLowerCase();

const unspaced =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";

const wordPattern = new RegExp(`[${unspaced}]|[[\\p{L}\\p{N}\\p{M}]--[${unspaced}]]+`, "gv");

/** In UTF-16 code units. No query has longer words, and an index of encoded data would be useless. */
const wordLength = 64;

/** In UTF-16 code units: the words of huge results must not keep a process busy. */
const searchedLength = 262_144;

/** In UTF-16 code units. */
const excerptLength = 240;

/** Returns the index of one of the words; 0 if folding changed the length so that none is found. */
const placeOfWord = (text: string, words: readonly string[]): number => {
  for (const { 0: run, index } of text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    if (wordsOf(run).some((word) => words.includes(word))) return index;
  }
  return 0;
};

const lines = (texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n");

const systemTexts = (system: string | { readonly content: Content } | null | undefined): readonly string[] =>
  system === null || system === undefined ? [] : contentTexts(typeof system === "string" ? system : system.content);

const draftTexts = (draft: SeedDraft): readonly string[] => contentTexts(draft.content);

type Said =
  | string
  | readonly (ContentPart | MessageDraft | NonNullable<Exclude<ReplyDraft["content"], string>>[number])[];

const contentTexts = (said: Said | null | undefined): readonly string[] => {
  if (said === null || said === undefined) return [];
  if (typeof said === "string") return [said];
  return said.flatMap((item) => {
    if ("role" in item) return contentTexts(item.content);
    return item.type === "text" || item.type === "refusal" ? [item.text] : [];
  });
};

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
