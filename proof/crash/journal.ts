import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";

import type { Entry, State } from "@colloquy/machine";
import { sqliteStore } from "@colloquy/runtime-node";

import { entriesIn, statesOf } from "../kit/journal.ts";
import { threadId } from "./conversation.ts";

/** The journal that a boot left. */
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
    return `it can't be read: ${String(error)}`;
  }
};

export const databaseName = "conversation.db";

/** Reads stored entries. @throws if they cannot be read */
export const journalOf = (stored: readonly unknown[]): Journal => {
  const entries = entriesIn(stored);
  return { entries, states: statesOf(entries) };
};
