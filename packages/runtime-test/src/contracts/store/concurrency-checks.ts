import { type Lease, SequenceConflictError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import * as fc from "fast-check";
import { expect } from "vitest";

import type { ManualClock } from "./manual-clock.ts";
import { append, atMost, entryOf, take, ttlMs } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

/** Checks that any number of writers, in any order, produce one journal. */
export const concurrencyChecks: StoreChecks = {
  "gives one lease to many who ask at once": async ({ store, another }) => {
    const stores = [store, await another()];
    const leases = await Promise.all(
      Array.from({ length: 10 }, (_, index) => (stores[index % 2] ?? store).acquire("thread", `owner ${index}`, ttlMs)),
    );
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
  },
  "takes one of many appends to the same place": async ({ store }) => {
    const lease = await take(store, "thread");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, writer) => append(store, lease, -1, [entryOf(0, { writer })])),
    );
    const refused = outcomes.flatMap((outcome): readonly unknown[] =>
      outcome.status === "rejected" ? [outcome.reason] : [],
    );
    expect(refused).toHaveLength(9);
    for (const reason of refused) expect(reason).toBeInstanceOf(SequenceConflictError);
    const writer = outcomes.findIndex(({ status }) => status === "fulfilled");
    expect(await store.read("thread")).toEqual([entryOf(0, { writer })]);
  },
  "makes one journal of what racing holders append, in the order of their leases, and keeps all it acknowledged":
    async ({ fresh }) => {
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (scheduler) => {
          const { store, another, clock } = await fresh();
          const stores = [store, await another(), store];
          const race: Race = { clock, acknowledged: [], pause: () => scheduler.schedule(Promise.resolve()) };
          const holders = stores.map((each, index) => hold(each, `owner ${index}`, race));
          await scheduler.waitFor(Promise.all([...holders, passTime(race)]));
          const inOrder = [...race.acknowledged].sort((one, other) => one.seq - other.seq);
          expect(await store.read("thread")).toEqual(inOrder.map(({ seq, token }) => entryOf(seq, { token })));
          expect(inOrder.map(({ seq }) => seq)).toEqual(inOrder.map((_, index) => index));
          expect(inOrder).toEqual([...inOrder].sort((one, other) => one.token - other.token));
          await Promise.all(stores.map((each) => each.close()));
        }),
        { numRuns: atMost(100) },
      );
    },
};

interface Race {
  readonly clock: ManualClock;
  readonly acknowledged: { readonly seq: number; readonly token: number }[];
  /** Lets other writers run first. */
  readonly pause: () => Promise<void>;
}

/** Takes the lease a few times. Each time it appends until it is refused or done. */
const hold = async (store: Store, owner: string, race: Race): Promise<void> => {
  for (let round = 0; round < 4; round += 1) {
    await race.pause();
    const lease = await store.acquire("thread", owner, ttlMs);
    if (lease === null) continue;
    await race.pause();
    let seq = (await store.read("thread")).length - 1;
    for (let count = 0; count < 3 && (await appended(store, lease, seq, race)); count += 1) seq += 1;
    await race.pause();
    if (round % 2 === 0) await store.release(lease);
  }
};

const appended = async (store: Store, lease: Lease, seq: number, { acknowledged, pause }: Race): Promise<boolean> => {
  await pause();
  const next = { seq: seq + 1, token: lease.token };
  try {
    await append(store, lease, seq, [entryOf(next.seq, { token: next.token })]);
  } catch {
    return false;
  }
  acknowledged.push(next);
  return true;
};

const passTime = async ({ clock, pause }: Race): Promise<void> => {
  for (let step = 0; step < 8; step += 1) {
    await pause();
    clock.advance(ttlMs / 2);
  }
};
