import { factsOf } from "./listing.ts";
import type { Entry, JsonObject } from "@colloquy/machine";

import { StorageError } from "./storage-error.ts";

/** The value of a JSON text that a store keeps as `what`. Throws `StorageError`. `store` names the store. */
export const parseStored = (store: string, text: string, what: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StorageError("corrupt", `${store}: ${what} is not JSON; restore it from a backup.`, { cause });
  }
};

/**
 * An inbox item as it was left. Of one that can't be read only its id remains, under which its thread's holder answers it: it
 * must not keep those behind it from being read.
 *
 * @param readId gives the id under which the store keeps it; where it gives none, or throws, the one in the inbox item counts.
 */
export const inboxItemOf = (readId: () => unknown, text: string): unknown => {
  const item = recordIn(text);
  const id = attempted(readId);
  return typeof id === "string" ? { ...item, id } : item;
};

/** The answer to an inbox item. One that can't be read is a refusal without a reason: the process that waits for it must not wait for ever. */
export const inboxAnswerOf = (id: string, text: string): unknown => recordIn(text) ?? { id, handled: false };

/**
 * The metadata of a thread as it is kept for listings. Where that was damaged, what the journal says; where that can't be
 * read either, nothing: a reader of the thread gets the error, and all are listed.
 */
export const listedMetadata = async (text: string, read: () => Promise<readonly unknown[]>): Promise<JsonObject> => {
  const kept = recordIn(text);
  // What is JSON, and an object.
  if (kept !== null) return kept as JsonObject;
  try {
    // One that is no entry throws, or says nothing.
    return factsOf((await read()) as readonly Entry[]).metadata ?? {};
  } catch {
    return {};
  }
};

/** What entries say of their thread's metadata: the newest of it, and the seq of the entry that says it. Null for nothing. */
export const metadataIn = (
  entries: readonly Entry[],
): { readonly seq: number; readonly metadata: JsonObject } | null => {
  for (const entry of entries.toReversed()) {
    const { metadata } = factsOf([entry]);
    if (metadata !== undefined) return { seq: entry.seq, metadata };
  }
  return null;
};

/** The JSON object that a text is; null for any other text. */
const recordIn = (text: string): object | null => {
  const value = attempted(() => JSON.parse(text));
  return typeof value === "object" && !Array.isArray(value) ? value : null;
};

/** Null where it throws. */
const attempted = (work: () => unknown): unknown => {
  try {
    return work();
  } catch {
    return null;
  }
};
