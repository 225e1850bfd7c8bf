import { setTimeout as pause } from "node:timers/promises";

import { LeaseLostError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { isUnreachable } from "../kit/calls.ts";

/** Appends one entry after the other while the server is killed and restarted, and records which were acknowledged. */
export interface Writer {
  readonly threadId: string;
  /** The JSON of each entry that it tried to append. */
  readonly attempted: ReadonlySet<string>;
  /** The JSON of the acknowledged entries, by seq. */
  readonly acknowledged: ReadonlyMap<number, string>;
  /** How many runs were broken off because the server was away or the lease was lost. */
  readonly failures: () => number;
  /** Resolves when the writer has ended; rejects with an error that it did not expect. */
  readonly running: Promise<void>;
  /** Ends the writer after the append under way; rejects as `running` does. */
  readonly stop: () => Promise<void>;
}

/** Starts a writer. Several may write to one thread. `onAcknowledged` is called for each acknowledged entry. */
export const startWriter = (store: Store, threadId: string, owner: string, onAcknowledged: () => void): Writer => {
  const attempted = new Set<string>();
  const acknowledged = new Map<number, string>();
  let failures = 0;
  let stopped = false;
  const write = async (): Promise<void> => {
    const lease = await store.acquire(threadId, owner, 60_000);
    if (lease === null) return;
    const start = (await store.read(threadId)).length;
    for (let seq = start; seq < start + appendsInOneGo && !stopped; seq += 1) {
      const entry = entryOf(seq, threadId, `${owner} ${attempted.size}`);
      const text = JSON.stringify(entry);
      attempted.add(text);
      await store.append(lease, seq - 1, [entry]);
      acknowledged.set(seq, text);
      onAcknowledged();
    }
    await store.release(lease);
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      try {
        await write();
      } catch (error) {
        if (!isUnreachable(error) && !(error instanceof LeaseLostError)) throw error;
        failures += 1;
      }
      await pause(pauseMs);
    }
  };
  const running = run();
  // The caller of `stop` gets the rejection.
  running.catch(() => {});
  return {
    threadId,
    attempted,
    acknowledged,
    failures: () => failures,
    running,
    stop: () => {
      stopped = true;
      return running;
    },
  };
};

const entryOf = (seq: number, threadId: string, name: string): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId, metadata: { name } } }
    : { seq, event: { type: "checkpoint.named", at: seq, name } };

const appendsInOneGo = 20;
const pauseMs = 5;
