import { once } from "node:events";
import { setImmediate as breathe } from "node:timers/promises";

import { LeaseLostError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { randomIds } from "../../src/ports/system.ts";
import { storeAt } from "./kinds.ts";

/** The options of a writer process. */
export interface WriterOptions {
  readonly kind: string;
  readonly place: string;
  readonly ttlMs: number;
  /** The most entries that it appends under one lease. */
  readonly appendsMax: number;
}

/** A written entry, with the token of its writer. */
export interface Written {
  readonly seq: number;
  readonly token: number;
}

// One of several processes that write the same thread until told to stop. It reports when it is ready, when it has
// written under a new lease and when it lost one, and at the end all that it wrote.

process.send?.("ready");
const [{ kind, place, ttlMs, appendsMax }] = (await once(process, "message")) as [WriterOptions];
let stopped = false;
process.once("message", () => {
  stopped = true;
});

const store = storeAt(kind, place);
const owner = randomIds.draw("owner");
const written: Written[] = [];

while (!stopped) {
  await breathe();
  const lease = await store.acquire("thread", owner, ttlMs);
  if (lease === null) continue;
  let newest = (await store.read("thread")).length - 1;
  for (let count = 0; count < appendsMax; count += 1) {
    const { token } = lease;
    try {
      await store.append(lease, newest, [entryOf(newest + 1, token)]);
    } catch (error) {
      // An expired lease is expected; a conflict under a valid lease is not.
      if (!(error instanceof LeaseLostError)) throw error;
      process.send?.("lost");
      break;
    }
    newest += 1;
    written.push({ seq: newest, token });
    if (count > 0) continue;
    process.send?.("holding");
    await breathe();
  }
  await store.release(lease);
}

process.send?.(written);
process.disconnect();

function entryOf(seq: number, token: number): Entry {
  if (seq === 0)
    return { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread", metadata: { token } } };
  return { seq, event: { type: "turn.annotated", at: seq, turn: 1, name: "token", value: token } };
}
