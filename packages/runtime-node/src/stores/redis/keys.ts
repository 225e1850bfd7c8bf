import type { ListingPlace } from "@colloquy/host/store";

import { threadKeys } from "./scripts.ts";

/** The keys of a thread. What stands between braces decides on which server of a cluster a key lies, and is one for all. */
export const keysOf = (prefix: string, threadId: string): readonly string[] =>
  threadKeys.map((name) => `${prefix}{${braceless(threadId)}}:${name}`);

export const listingKey = (prefix: string): string => `${prefix}threads`;

export const formatKey = (prefix: string): string => `${prefix}format`;

/** Empty braces would not count. A "%" is never alone otherwise. */
const braceless = (threadId: string): string =>
  threadId === "" ? "%" : threadId.replace(/[%{}]/g, (brace) => encodeURIComponent(brace));

/**
 * The place of a thread in the listing, as a text whose bytes sort by time and id. The token of the lease under which
 * it was made distinguishes it from a thread of the same id that was there before.
 */
export const placeOf = (thread: ListingPlace, token: number): string => `${beforeAll(thread)}${token}`;

/** Sorts before all places of threads with this time and id; ids have no NUL. */
export const beforeAll = ({ createdAt, threadId }: ListingPlace): string => `${timeText(createdAt)}${threadId}\0`;

/** Sorts after all places of threads with this time and id: tokens are digits. */
export const afterAll = (thread: ListingPlace): string => `${beforeAll(thread)}:`;

export const threadAt = (place: string): { readonly threadId: string; readonly token: string } => {
  const end = place.lastIndexOf("\0");
  return { threadId: place.slice(timeLength, end), token: place.slice(end + 1) };
};

/** The time at a place. */
export const timeAt = (place: string): number => {
  const sortable = BigInt(`0x${place.slice(0, timeLength)}`);
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, (sortable & signBit) === 0n ? ~sortable & allBits : sortable & allBits & ~signBit);
  return view.getFloat64(0);
};

/** A number as 16 hexadecimal digits that sort as it does: its bits, those of negative ones turned around. */
export const timeText = (time: number): string => {
  const view = new DataView(new ArrayBuffer(8));
  // Zero has two signs, and one place.
  view.setFloat64(0, time + 0);
  const bits = view.getBigUint64(0);
  const sortable = bits >= signBit ? ~bits & allBits : bits | signBit;
  return sortable.toString(16).padStart(timeLength, "0");
};

const timeLength = 16;
const signBit = 1n << 63n;
const allBits = (1n << 64n) - 1n;
