// A store on which a host died, and hosts that continue what it left.
import type { Recovered, Store } from "@colloquy/host";
import { mortal } from "../mortal-store.ts";
import {
  countingIds,
  manualClock,
  queue,
  says,
  settle,
  stage as stageWith,
  type StageOptions,
  stored,
} from "../stage.ts";

/** Each host has its own lease owner. */
const ids = countingIds();
export const stage = (options: StageOptions = {}) => stageWith({ ids, ...options });

export const leaseTtlMs = 9_000;
export const everyMs = 30_000;

export const replies = Array.from({ length: 99 }, (_, index) => says(`answer ${index + 1}`));

/** Returns a store on which a host died with an open turn on each of some threads. */
export const afterCrash = async (threadIds: readonly string[]) => {
  const { clock, inner: store } = stored();
  const dying = mortal(store);
  const never = () => new Promise<never>(() => {});
  const dead = stage({ clock, store: dying.store, machine: queue, leaseTtlMs, script: Array(99).fill(never) });
  for (const threadId of threadIds) void dead.host.ask("hi", { threadId, askId: `ask of ${threadId}` });
  await settle();
  dying.die();
  return { clock, store };
};

/** Makes a host that continues threads by itself, and records its reports. */
export const recovering = (options: StageOptions) => {
  const rounds: Recovered[] = [];
  const reported: string[] = [];
  const staged = stage({
    machine: queue,
    leaseTtlMs,
    recovery: { everyMs },
    script: replies,
    observers: [{ recovered: (round) => void rounds.push(round) }],
    onObserverError: (error, where) => void reported.push(`${where}: ${String(error)}`),
    ...options,
  });
  return { ...staged, rounds, reported };
};

export const statusOf = async (store: Store, clock: StageOptions["clock"], threadId: string) =>
  (
    await stage({ store, clock: clock ?? manualClock() })
      .host.thread(threadId)
      .asks()
  ).map(({ status }) => status);
