import type { Clock, Store } from "@colloquy/host";
import type { Lease, StoredSnapshot } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { methodsOf, type Through } from "../kit/store-methods.ts";
import { type Fuse, never } from "./fuse.ts";
import type { Pace } from "./pace.ts";

/** A clock that calls no callback of a dead process. */
export const doomedClock = ({ clock }: Pace, fuse: Fuse): Clock => ({
  now: () => clock.now(),
  wakeAt: (dueAt, callback) =>
    clock.wakeAt(dueAt, () => {
      if (fuse.alive) callback();
    }),
});

/** A store as a process sees it that dies around an append: nothing of it reaches the store after that, or comes back. */
export const doomedStore = (
  store: Store,
  pace: Pace,
  fuse: Fuse,
  acknowledged: (entries: readonly Entry[]) => void,
): Store => {
  /** Calls something outside, if the process lives; and comes back, if it lives still. */
  const living: Through = async (call) => {
    if (!fuse.alive) return never();
    const value = await pace.outside(call);
    return fuse.alive ? value : never();
  };
  const append = async (lease: Lease, expectedSeq: number, entries: readonly Entry[]): Promise<void> => {
    const what = `append ${entries.map(({ event }) => event.type).join(", ")}`;
    if (!fuse.passes("before", what)) return never();
    await pace.outside(async () => store.append(lease, expectedSeq, entries));
    if (!fuse.passes("after", what)) return never();
    acknowledged(entries);
  };
  return {
    ...methodsOf(store, living),
    append,
    readSnapshot: async (...given) => doomedSnapshot(await living(() => store.readSnapshot(...given)), living),
    close: async () => undefined,
  };
};

const doomedSnapshot = (snapshot: StoredSnapshot | null, living: Through): StoredSnapshot | null =>
  snapshot?.fetch === undefined
    ? snapshot
    : { ...snapshot, fetch: (chunk) => living(async () => snapshot.fetch?.(chunk)) };
