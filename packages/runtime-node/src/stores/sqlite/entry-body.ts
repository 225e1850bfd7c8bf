import type { Entry } from "@colloquy/machine";

import { parseStored } from "@colloquy/host/store";
import type { Connection } from "./connection.ts";

/** What is stored of an entry: the seq stands in the row already, and most entries hold nothing beside their event, which then stands for itself. */
export const bodyOf = ({ seq: _, ...entry }: Entry): string =>
  JSON.stringify(Object.keys(entry).length === 1 ? entry.event : entry);

/** The entry of a stored body. Throws `StorageError`. */
export const entryOf = (connection: Connection, threadId: string, seq: number, body: string): unknown => {
  const entry = parseStored(connection.name, body, `entry ${seq} of thread "${threadId}"`);
  if (typeof entry !== "object" || entry === null) return entry;
  return "type" in entry ? { seq, event: entry } : { seq, ...entry };
};
