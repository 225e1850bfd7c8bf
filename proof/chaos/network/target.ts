// Puts a network that cuts, delays and half-closes connections between stores and their server, lets users of the
// stores and hosts work over it, and mends it. No acknowledged data may be lost or doubled, no two may append at once,
// every call must end, and all must work again.
import { setTimeout as pause } from "node:timers/promises";

import type { Store } from "@colloquy/host";

import { ending, eventually, noteStray } from "../../kit/calls.ts";
import { deleteThreads, openStore, type ServerPlace, serverPlace } from "../../kit/places.ts";
import { randomOf } from "../../kit/random.ts";
import { runSeeds, type SeededRun } from "../../kit/report.ts";
import { neededServerUrl, type ServerName, serverNames } from "../../kit/server-urls.ts";
import { commandOf } from "../../kit/target.ts";
import { Book } from "../store/book.ts";
import { problemsIn } from "../store/check.ts";
import { faultyStore, networkFaults } from "../store/faults.ts";
import { AtWork } from "../store/user.ts";
import { type Conversing, startConversing } from "./hosts.ts";
import { badNetwork } from "./network.ts";

const [first = "postgres", ...others] = serverNames;

export interface Target {
  readonly store: ServerName;
  readonly url: string;
  readonly fault: keyof typeof networkFaults | null;
  /** The milliseconds after which a call counts as endless. Default 15,000. */
  readonly limitMs?: number;
}

export const run = async (seed: number, target: Target): Promise<SeededRun> => {
  const { limitMs = 15_000 } = target;
  const place = serverPlace(target.store, target.url, "chaos-network");
  const timeoutMs = await timeoutAt(place);
  const network = await badNetwork(target.url, seed, 3 * timeoutMs);
  const stray = noteStray();
  const direct = openStore(place, { timeoutMs: 30_000 });
  const far = Array.from({ length: storesAtOnce }, () => openStore({ ...place, url: network.url }, { timeoutMs }));
  const book = new Book();
  try {
    const random = randomOf(seed + 1);
    const conversing = startConversing(far.slice(0, 2), limitMs);
    const users = far.map((store, index) => {
      const owner = `user-${index}`;
      return new AtWork({
        store: faultyStore(store, target.fault),
        owner,
        threadIds: [owner, shared],
        random: randomOf(seed * 10 + index),
        note: (note) => book.note(note),
        // Short enough for frequent takeovers, and long enough to retry after a late call.
        leasesMs: [Math.ceil(0.8 * timeoutMs), 7 * timeoutMs],
        // A journal must arrive before a store's timeout, even on a busy machine.
        lengthMax: 600,
        nextNumber: () => (newestNumber += 1),
        call: (name, work) => ending(name, limitMs, work()),
      });
    });
    await pause(random.integer(3, 8) * timeoutMs);
    network.mend();
    const recovered = await recoveryProblems(far, users, conversing, limitMs);
    await Promise.all(users.map((user) => user.stop()));
    const left = await problemsIn(direct, book, [shared, ...users.map(({ owner }) => owner)], { isAlone: false });
    const conversed = recovered.length === 0 ? await conversing.judge(direct) : [];
    const violations = [
      ...users.flatMap((user) => user.violations),
      ...recovered,
      ...left,
      ...conversed,
      ...stray.noted,
    ];
    const failures = users.reduce((sum, user) => sum + user.failures, 0);
    const fates = Array.from(network.fates, ([fate, met]) => [`connections ${fate}`, met] as const);
    const counts = {
      ...Object.fromEntries(fates),
      "acknowledged writes": book.acknowledged,
      "failed calls": failures,
      "asks that hosts repeated": conversing.again(),
    };
    return { seed, violations, counts };
  } finally {
    await deleteThreads(direct);
    await Promise.all([direct, ...far].map((store) => ending("close", limitMs, store.close())));
    await network.close();
    stray.end();
  }
};

const shared = "shared";

/**
 * Returns a store's timeout for its server, at which many calls of a run are late and many are not. The server must be
 * able to answer in that time when all stores connect again at once, even on a slow machine.
 */
const timeoutAt = async (place: ServerPlace): Promise<number> => {
  const stores = Array.from({ length: storesAtOnce }, () => openStore(place, { timeoutMs: 30_000 }));
  const began = performance.now();
  await Promise.all(stores.flatMap((store) => readsOf(() => store.read(shared))));
  const connectedMs = performance.now() - began;
  await Promise.all(stores.map((store) => store.close()));
  return Math.max(300, Math.ceil(2 * connectedMs));
};

const storesAtOnce = 4;

let newestNumber = 0;

/**
 * Checks the stores on the mended network. Returns the problems: each store must serve many calls at once, each user
 * must end, and each ask must have its answer.
 */
const recoveryProblems = async (
  stores: readonly Store[],
  users: readonly AtWork[],
  conversing: Conversing,
  limitMs: number,
): Promise<readonly string[]> => {
  const works = stores.map(async (store, index) => {
    const reads = readsOf(() => eventually(() => store.read(shared)));
    await ending(`store ${index}, ${readsAtOnce} reads on a sound network`, limitMs, Promise.all(reads));
  });
  const visited = users.map(async (user, index) => {
    const before = user.visits;
    const visit = async (): Promise<void> => {
      while (user.visits === before && !user.ended) await pause(20);
    };
    await ending(`a visit of user ${index} on a sound network`, limitMs, visit());
  });
  const answered = ending("the answers to all asks on a sound network", 2 * limitMs, conversing.done);
  const outcomes = await Promise.allSettled([...works, ...visited, answered]);
  return outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [String(outcome.reason)] : (outcome.value ?? []),
  );
};

const readsOf = <A>(read: () => Promise<A>): readonly Promise<A>[] => Array.from({ length: readsAtOnce }, read);

/** More than a pool's connections. */
const readsAtOnce = 15;

export const command = commandOf({
  name: "network",
  stores: [first, ...others],
  faults: networkFaults,
  runs: [20, "the number of networks, each bad for the time of three to eight calls without an answer"],
  run: ({ store, runs, seed, fault }) =>
    runSeeds(runs, seed, (each) => run(each, { store, url: neededServerUrl(store), fault })),
});
