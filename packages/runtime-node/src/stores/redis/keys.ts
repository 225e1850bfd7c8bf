import type { ListingPlace } from "@colloquy/host/store";

import { threadKeys } from "./scripts.ts";

/** Returns the keys of a thread. The text in braces is their hash tag, so a cluster keeps them all on one server. */
export const keysOf = (prefix: string, threadId: string): readonly string[] =>
  threadKeys.map((name) => `${prefix}{${hashTag(threadId)}}:${name}`);

export const listingKey = (prefix: string): string => `${prefix}threads`;

/** The kinds of marks: of leases, and of unanswered inbox items. */
export type MarkKind = "leased" | "posted";

export const marksKey = (prefix: string, kind: MarkKind): string => `${prefix}${kind}`;

export const formatKey = (prefix: string): string => `${prefix}format`;

/** Encodes an id without braces. Redis ignores an empty hash tag, so an empty id gets "%", which no other id gets. */
const hashTag = (threadId: string): string =>
  threadId === "" ? "%" : threadId.replace(/[%{}]/g, (brace) => encodeURIComponent(brace));

/**
 * Returns the place of a thread in the listing, as a text whose bytes sort by time and id. It ends with the token of
 * the lease that created the thread, which distinguishes an earlier thread of the same id.
 */
export const placeOf = (thread: ListingPlace, token: number): string => `${lowerBound(thread)}${token}`;

/** Returns a text that sorts before all places of threads with this time and id; ids contain no NUL. */
export const lowerBound = ({ createdAt, threadId }: ListingPlace): string => `${timeText(createdAt)}${threadId}\0`;

/** Returns a text that sorts after all places of threads with this time and id; tokens are digits. */
export const upperBound = (thread: ListingPlace): string => `${lowerBound(thread)}:`;

export const threadAt = (place: string): { readonly threadId: string; readonly token: string } => {
  const { threadId, id } = markedAt(place.slice(timeLength));
  return { threadId, token: id };
};

/** Returns the mark of a lease by its token, or of an inbox item by its storable id. Neither contains NUL. */
export const markOf = (threadId: string, id: string | number): string => `${threadId}\0${id}`;

export const markedAt = (mark: string): { readonly threadId: string; readonly id: string } => {
  const end = mark.lastIndexOf("\0");
  return { threadId: mark.slice(0, end), id: mark.slice(end + 1) };
};

export const timeAt = (place: string): number => {
  const sortable = BigInt(`0x${place.slice(0, timeLength)}`);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, (sortable & signBit) === 0n ? ~sortable & allBits : sortable & allBits & ~signBit);
  return view.getFloat64(0);
};

/** Formats a number as 16 hexadecimal digits that sort like it: its bits, inverted if it is negative. */
export const timeText = (time: number): string => {
  const view = new DataView(new ArrayBuffer(8));
  // Adding 0 turns -0 into 0, so that both sort alike.
  view.setFloat64(0, time + 0);
  const bits = view.getBigUint64(0);
  const sortable = bits >= signBit ? ~bits & allBits : bits | signBit;
  return sortable.toString(16).padStart(timeLength, "0");
};

const timeLength = 16;
const signBit = 1n << 63n;
const allBits = (1n << 64n) - 1n;
