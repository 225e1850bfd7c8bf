import type { Entry } from "@colloquy/machine";

import { parseStored } from "@colloquy/host/store";
import type { Connection } from "./connection.ts";

/**
 * Serialises an entry. The row contains the seq already. Most entries have nothing beside their event, so then only the
 * event is stored.
 */
export const bodyOf = ({ seq: _, ...entry }: Entry): string =>
  JSON.stringify(Object.keys(entry).length === 1 ? entry.event : entry);

/** Parses a stored entry. Throws `StorageError`. */
export const entryOf = (connection: Connection, threadId: string, seq: number, body: string): unknown => {
  const entry = parseStored(connection.name, body, `entry ${seq} of thread "${threadId}"`);
  if (typeof entry !== "object" || entry === null) return entry;
  return "type" in entry ? { seq, event: entry } : { seq, ...entry };
};
