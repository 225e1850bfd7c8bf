import { once } from "node:events";

import { SequenceConflictError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { randomIds } from "../../../src/ports/system.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";

// One of several processes that write the same thread. Says when it stands ready, is told the file, and reports
// the seqs that it wrote.

process.send?.("ready");
const [{ path, untilSeq }] = (await once(process, "message")) as [{ readonly path: string; readonly untilSeq: number }];

const store = sqliteStore({ path });
const owner = randomIds.draw("owner");
const written: number[] = [];

for (let newest = -1; newest < untilSeq;) {
  const lease = await store.acquire("thread", owner, 20);
  newest = (await store.read("thread")).length - 1;
  if (lease === null) continue;
  for (let count = 0; count < 3; count += 1) {
    const seq = newest + 1;
    try {
      await store.append(lease, newest, [entryOf(seq)]);
    } catch (error) {
      // A lease that ran out on a busy machine is part of the game; a conflict under a lease in force is not.
      if (error instanceof SequenceConflictError) throw error;
      break;
    }
    written.push(seq);
    newest = seq;
  }
  await store.release(lease);
}

process.send?.(written);
process.disconnect();

function entryOf(seq: number): Entry {
  if (seq === 0) return { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } };
  return { seq, event: { type: "checkpoint.named", at: seq, name: owner } };
}
