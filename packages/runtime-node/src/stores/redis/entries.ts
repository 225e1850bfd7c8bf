import { refuseUnstorable } from "../store-arguments.ts";
import { parseStored } from "@colloquy/host/store";
import type { Connection } from "./connection.ts";
import { keysOf } from "./keys.ts";
import * as scripts from "./scripts.ts";

/** Reads the entries of a thread from a seq on, not decoded. Throws `StorageError`. */
export const readEntries = async (
  { name, prefix, run }: Connection,
  threadId: string,
  fromSeq: number,
): Promise<readonly unknown[]> => {
  refuseUnstorable(name, threadId);
  const first = Math.max(fromSeq, 0);
  // The type that the script returns.
  const bodies = (await run(scripts.read, keysOf(prefix, threadId), [first])) as readonly string[];
  return bodies.map((body, index) => parseStored(name, body, `entry ${first + index} of thread "${threadId}"`));
};
