import { createHash } from "node:crypto";

import { textOfEntry, wordsOf } from "@colloquy/host/store";
import { canonicalText, type Entry, type JsonObject } from "@colloquy/machine";

/** Entries as columns, which is how a statement takes many rows at once. */
export interface EntryRows {
  readonly bodies: readonly string[];
  readonly times: readonly number[];
  /** What each is found by, with spaces between; empty where nothing was said. */
  readonly words: readonly string[];
}

/** The rows of entries. Called before anything is waited for, so that later changes to an entry change nothing. */
export const rowsOf = (entries: readonly Entry[]): EntryRows => ({
  bodies: entries.map((entry) => JSON.stringify(entry)),
  times: entries.map(({ event }) => event.at),
  words: entries.map((entry) => wordsOf(textOfEntry(entry)).map(indexed).join(" ")),
});

/** A word as the index has it, which takes no long ones. */
export const indexed = (word: string): string => (word.length <= wordMax ? word : digest(word));

/** A digest of each member, alike for equal ones: so an index finds them, whatever they are. */
export const membersOf = (metadata: JsonObject): readonly string[] =>
  Object.entries(metadata).map((member) => digest(canonicalText(member)));

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

const wordMax = 200;
