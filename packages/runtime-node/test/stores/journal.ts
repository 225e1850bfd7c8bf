import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

/** Makes the entry of this seq, with these words. */
export const said = (seq: number, words = `entry ${seq}`): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread", system: words } }
    : { seq, event: { type: "ask.received", at: seq, askId: `ask ${seq}`, input: words } };

/** Takes the lease of a thread that must be free. */
export const take = async (store: Store, threadId = "thread", owner = "somebody", ttlMs = 60_000): Promise<Lease> => {
  const lease = await store.acquire(threadId, owner, ttlMs);
  if (lease === null) throw new Error(`the lease of thread "${threadId}" should have been free`);
  return lease;
};
