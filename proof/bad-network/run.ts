import { setTimeout as pause } from "node:timers/promises";

import type { Store } from "@colloquy/host";

import { ending, eventually } from "../kit/calls.ts";
import { deleteThreads, openStore, serverPlace } from "../kit/places.ts";
import { randomOf } from "../kit/random.ts";
import type { SeededRun } from "../kit/seeded-runs.ts";
import type { ServerName } from "../kit/server-urls.ts";
import { noteStray } from "../kit/stray.ts";
import { Book } from "./book.ts";
import { violationsIn } from "./check.ts";
import { type Fault, faultyStore } from "./faults.ts";
import { badNetwork, type FateName } from "./network.ts";
import { startTalk, type Talk } from "./talk.ts";
import { User } from "./user.ts";

export interface Target {
  readonly store: ServerName;
  /** Of its server. */
  readonly url: string;
  readonly fault: Fault | null;
  /** A call that takes longer never ends. Default 15,000. */
  readonly limitMs?: number;
}

/** The outcome of one bad network. */
export interface Run extends SeededRun {
  readonly fates: ReadonlyMap<FateName, number>;
  readonly acknowledged: number;
  readonly failures: number;
  readonly recognised: number;
  readonly again: number;
}

/** Lets users and hosts work over a network that is bad for a while, and looks at what they left. */
export const run = async (seed: number, target: Target): Promise<Run> => {
  const { limitMs = 15_000 } = target;
  const place = serverPlace(target.store, target.url, "bad-network");
  const network = await badNetwork(target.url, seed);
  const stray = noteStray();
  const direct = openStore(place, { timeoutMs: 30_000 });
  const far = Array.from({ length: 4 }, () => openStore({ ...place, url: network.url }, { timeoutMs }));
  const talking = far.slice(0, 2);
  const book = new Book();
  try {
    const random = randomOf(seed + 1);
    const talk = startTalk(talking, asksEach, limitMs);
    const users = far.map((store, index) => {
      const owner = `user-${index}`;
      const options = { store: faultyStore(store, target.fault), owner, threadIds: [owner, shared], book, limitMs };
      return new User({ ...options, random: randomOf(seed * 10 + index) });
    });
    await pause(random.integer(1_000, 2_500));
    network.mend();
    const recovered = await recoveryProblems(far, users, talk, limitMs);
    await Promise.all(users.map((user) => user.stop()));
    const left = await violationsIn(direct, book, [...far.map((_, index) => `user-${index}`), shared]);
    const talked = recovered.length === 0 ? await talk.judge(direct) : [];
    const { acknowledged, failures, recognised } = book;
    const violations = [...book.violations, ...recovered, ...left, ...talked, ...stray.noted];
    return { seed, violations, fates: network.fates, acknowledged, failures, recognised, again: talk.again() };
  } finally {
    await deleteThreads(direct);
    await Promise.all([direct, ...far].map((store) => ending("close", limitMs, store.close())));
    await network.close();
    stray.end();
  }
};

const shared = "shared";
const asksEach = 4;

/** How long a store waits for its server: many calls of a run are late, and many are not. */
const timeoutMs = 300;

/**
 * The network is sound again. Returns the problems: each store must work for many calls at once, each user must end,
 * and each ask must have its answer.
 */
const recoveryProblems = async (
  stores: readonly Store[],
  users: readonly User[],
  talk: Talk,
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
  const talked = ending("the answers to all asks on a sound network", 2 * limitMs, talk.done);
  const outcomes = await Promise.allSettled([...works, ...visited, talked]);
  return outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [String(outcome.reason)] : (outcome.value ?? []),
  );
};

/** More than a pool has connections. */
const callsAtOnce = 15;
