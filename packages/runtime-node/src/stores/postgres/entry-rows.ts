import { createHash } from "node:crypto";

import { factsOf, textOfEntry, wordsOf } from "@colloquy/host";
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

/** What entries tell of their thread's metadata: the newest of them, and in which seq it stands. Null for nothing. */
export const metadataIn = (
  entries: readonly Entry[],
): { readonly seq: number; readonly text: string; readonly members: readonly string[] } | null => {
  const teller = entries.findLast((entry) => factsOf([entry]).metadata !== undefined);
  const metadata = teller === undefined ? undefined : factsOf([teller]).metadata;
  if (teller === undefined || metadata === undefined) return null;
  return { seq: teller.seq, text: JSON.stringify(metadata), members: membersOf(metadata) };
};

/** A digest of each member, alike for equal ones: so an index finds them, whatever they are. */
export const membersOf = (metadata: JsonObject): readonly string[] =>
  Object.entries(metadata).map((member) => digest(canonicalText(member)));

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url");

const wordMax = 200;
