import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

import { decodeJournal, describeDecodeError, fold, foldEntry } from "@colloquy/machine/journal";
import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { sqliteStore } from "@colloquy/runtime-node";
import * as Either from "fp-ts/lib/Either.js";

import { threadId } from "./conversation.ts";

/** What a boot left behind. */
export interface Journal {
  readonly entries: readonly Entry[];
  /** The state after each entry. */
  readonly states: readonly State[];
}

export const emptyJournal: Journal = { entries: [], states: [] };

/**
 * Reads the journal from a copy of the database's folder, so that the next boot finds the files as the kill left
 * them. A string says why it is none.
 */
export const readJournal = async (folder: string, copy: string): Promise<Journal | string> => {
  cpSync(folder, copy, { recursive: true });
  const path = join(copy, databaseName);
  if (!existsSync(path)) return emptyJournal;
  try {
    const store = sqliteStore({ path });
    const stored = await store.read(threadId);
    await store.close();
    return journalOf(stored);
  } catch (error) {
    return `the database can't be read: ${String(error)}`;
  }
};

export const databaseName = "conversation.db";

/** What is stored, read; a string says why it can't be. */
export const journalOf = (stored: readonly unknown[]): Journal | string => {
  const decoded = decodeJournal(stored);
  if (Either.isLeft(decoded)) return `the journal does not decode: ${describeDecodeError(decoded.left)}`;
  const entries = decoded.right;
  if (entries.length === 0) return emptyJournal;
  const folded = fold(entries);
  if (Either.isLeft(folded)) return `the journal does not fold: entry ${folded.left.seq}: ${folded.left.reason}`;
  return { entries, states: statesOf(entries) };
};

const statesOf = (entries: readonly Entry[]): readonly State[] => {
  const states: State[] = [];
  for (const [index, entry] of entries.entries()) {
    const before = states[index - 1];
    // `fold` took all of them, so the first is the only one that begins a thread.
    if (before !== undefined) states.push(foldEntry(before, entry as LaterEntry));
    else {
      const begun = fold([entry]);
      if (Either.isRight(begun)) states.push(begun.right);
    }
  }
  return states;
};
