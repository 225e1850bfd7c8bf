import { factsOf } from "./listing.ts";
import type { Entry, JsonObject } from "@colloquy/machine";

import { StorageError } from "./storage-error.ts";

/** Parses a JSON text in a store; `what` describes it. Throws `StorageError`. `store` names the store. */
export const parseStored = (store: string, text: string, what: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StorageError("corrupt", `${store}: ${what} is not JSON; restore it from a backup.`, { cause });
  }
};

/**
 * Returns an inbox item as it was posted. Of an unreadable one, returns only its id, under which the thread's holder
 * answers it: it must not keep later items from being read.
 *
 * @param readId returns the id under which the store keeps it; if it returns none, or throws, the id in the item
 * counts.
 */
export const inboxItemOf = (readId: () => unknown, text: string): unknown => {
  const item = recordIn(text);
  const id = attempted(readId);
  return typeof id === "string" ? { ...item, id } : item;
};

/** Returns the answer to an inbox item. An unreadable one becomes a refusal: its process must not wait forever. */
export const inboxAnswerOf = (id: string, text: string): unknown => recordIn(text) ?? { id, handled: false };

/**
 * Returns the metadata of a thread as it is kept for listings. If that is damaged, returns the journal's; if that is
 * unreadable too, an empty object. So all threads are listed; a reader of the thread gets the error.
 */
export const listedMetadata = async (text: string, read: () => Promise<readonly unknown[]>): Promise<JsonObject> => {
  const kept = recordIn(text);
  // Parsed from JSON, and an object.
  if (kept !== null) return kept as JsonObject;
  try {
    // An invalid entry throws, or has no metadata.
    return factsOf((await read()) as readonly Entry[]).metadata ?? {};
  } catch {
    return {};
  }
};

/** Returns the newest metadata in the entries, with the seq of its entry. Null if there is none. */
export const metadataIn = (
  entries: readonly Entry[],
): { readonly seq: number; readonly metadata: JsonObject } | null => {
  for (const entry of entries.toReversed()) {
    const { metadata } = factsOf([entry]);
    if (metadata !== undefined) return { seq: entry.seq, metadata };
  }
  return null;
};

const recordIn = (text: string): object | null => {
  const value = attempted(() => JSON.parse(text));
  return typeof value === "object" && !Array.isArray(value) ? value : null;
};

const attempted = (work: () => unknown): unknown => {
  try {
    return work();
  } catch {
    return null;
  }
};
