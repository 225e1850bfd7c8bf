import { setTimeout as pause } from "node:timers/promises";

import type { Store } from "@colloquy/host";

import { ending, eventually } from "../../kit/calls.ts";
import { deleteThreads, openStore, serverPlace } from "../../kit/places.ts";
import { randomOf } from "../../kit/random.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import type { ServerName } from "../../kit/server-urls.ts";
import { noteStray } from "../../kit/stray.ts";
import { AtWork } from "../store/at-work.ts";
import { Book } from "../store/book.ts";
import { problemsIn } from "../store/check.ts";
import { faultyStore, type networkFaults } from "../store/faults.ts";
import { type Conversing, startConversing } from "./hosts.ts";
import { badNetwork, type FateName } from "./network.ts";

export interface Target {
  readonly store: ServerName;
  /** Of its server. */
  readonly url: string;
  readonly fault: keyof typeof networkFaults | null;
  /** A call that takes longer never ends. Default 15,000. */
  readonly limitMs?: number;
}

/** The outcome of one bad network. */
export interface Run extends SeededRun {
  readonly fates: ReadonlyMap<FateName, number>;
  readonly acknowledged: number;
  readonly failures: number;
  readonly again: number;
}

/** Lets users and hosts work over a network that is bad for a while, and looks at what they left. */
export const run = async (seed: number, target: Target): Promise<Run> => {
  const { limitMs = 15_000 } = target;
  const place = serverPlace(target.store, target.url, "chaos-network");
  const network = await badNetwork(target.url, seed);
  const stray = noteStray();
  const direct = openStore(place, { timeoutMs: 30_000 });
  const far = Array.from({ length: 4 }, () => openStore({ ...place, url: network.url }, { timeoutMs }));
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
        leasesMs,
        // A journal has to come through in less time than a store waits, also on a busy machine.
        lengthMax: 600,
        nextNumber: () => (newestNumber += 1),
        call: (name, work) => ending(name, limitMs, work()),
      });
    });
    await pause(random.integer(1_000, 2_500));
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
    const { acknowledged } = book;
    return { seed, violations, fates: network.fates, acknowledged, failures, again: conversing.again() };
  } finally {
    await deleteThreads(direct);
    await Promise.all([direct, ...far].map((store) => ending("close", limitMs, store.close())));
    await network.close();
    stray.end();
  }
};

const shared = "shared";

/** How long a store waits for its server: many calls of a run are late, and many are not. */
const timeoutMs = 300;

/** Short enough that others often take over, and long enough to try again after a call that was late. */
const leasesMs = [250, 2_000];

/** Of all snapshots of this process. */
let newestNumber = 0;

/**
 * The network is sound again. Returns the problems: each store must work for many calls at once, each user must end,
 * and each ask must have its answer.
 */
const recoveryProblems = async (
  stores: readonly Store[],
  users: readonly AtWork[],
  conversing: Conversing,
  limitMs: number,
): Promise<readonly string[]> => {
  const works = stores.map(async (store, index) => {
    const calls = Array.from({ length: callsAtOnce }, () => eventually(() => store.read(shared)));
    await ending(`store ${index}, ${callsAtOnce} reads on a sound network`, limitMs, Promise.all(calls));
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

/** More than a pool has connections. */
const callsAtOnce = 15;
