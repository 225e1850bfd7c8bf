import { type Lease, StorageError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { filesStore } from "../../../src/stores/files/files-store.ts";

// Writes more than the limit of a file's size, and prints the result.

const store = filesStore({ folder: process.argv[2] ?? "" });

const lease = await leaseOf("thread");
await store.append(lease, -1, [entryOf(0, 10), entryOf(1, 100_000), entryOf(2, 100_000)]);
const refusal = await outcomeOf(lease, 2, [entryOf(3, 10), entryOf(4, 100_000)]);
const entriesAfter = (await store.read("thread")).length;
const smallerOne = await outcomeOf(lease, 2, [entryOf(3, 10)]);
const otherThread = await outcomeOf(await leaseOf("other"), -1, [entryOf(0, 10)]);
await store.close();
const { kind, message } = refusal instanceof StorageError ? refusal : {};
process.stdout.write(JSON.stringify({ kind, message, entriesAfter, smallerOne, otherThread }));

async function leaseOf(threadId: string): Promise<Lease> {
  const taken = await store.acquire(threadId, "writer", 60_000);
  if (taken === null) throw new Error("the lease should have been free");
  return taken;
}

async function outcomeOf(held: Lease, expectedSeq: number, entries: readonly Entry[]): Promise<unknown> {
  try {
    await store.append(held, expectedSeq, entries);
    return "appended";
  } catch (error) {
    return error;
  }
}

function entryOf(seq: number, length: number): Entry {
  if (seq === 0) return { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } };
  return { seq, event: { type: "checkpoint.named", at: seq, name: "x".repeat(length) } };
}
