import { createHash } from "node:crypto";

import { textOfEntry, wordsOf } from "@colloquy/host/store";
import { canonicalText, type Entry, type JsonObject } from "@colloquy/machine";

/** Entries as columns, so that one statement takes many rows. */
export interface EntryRows {
  readonly bodies: readonly string[];
  readonly times: readonly number[];
  /** The search words of each entry, separated by spaces; empty if the entry has no text. */
  readonly words: readonly string[];
}

/** Serialises entries. Call it before waiting for anything, so that later changes to an entry have no effect. */
export const rowsOf = (entries: readonly Entry[]): EntryRows => ({
  bodies: entries.map((entry) => JSON.stringify(entry)),
  times: entries.map(({ event }) => event.at),
  words: entries.map((entry) => wordsOf(textOfEntry(entry)).map(indexed).join(" ")),
});

/** Returns a word for the index, which does not take long ones. */
export const indexed = (word: string): string => (word.length <= wordMax ? word : digest(word));

/** Returns a digest of each member, so that an index can find members of any type. */
export const membersOf = (metadata: JsonObject): readonly string[] =>
  Object.entries(metadata).map((member) => digest(canonicalText(member)));

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

const wordMax = 200;
