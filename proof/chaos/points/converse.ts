import { setImmediate as nextMacrotask } from "node:timers/promises";

import type { Clock, Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { sequentialIds, type VirtualClock, virtualClock } from "@colloquy/runtime-test";

import { entriesIn } from "../../kit/journal.ts";
import type { Fact } from "../story/facts.ts";
import { hostLife, type Life, type LifeParts, live } from "../story/life.ts";
import { story } from "../story/script.ts";
import { Fuse, type Point, watchedModel, watchedStore, watchedTools } from "../story/watched.ts";

interface ConverseOptions {
  /** Starts a process. Default: one with a host. */
  readonly begin?: (parts: LifeParts) => Life;
  readonly openStore: (clock: Clock) => Promise<Store>;
  /** The number of the point at which the process dies, from 1; null for never. */
  readonly diesAt: number | null;
  /** The same for the next process. Default null. */
  readonly diesAgainAt?: number | null;
  /** Whether the approver lets a tool of unknown outcome run again. */
  readonly runAgain: boolean;
}

export interface Conversed {
  readonly journal: readonly Entry[];
  readonly left: readonly (readonly Entry[])[];
  /** The points that the first process passed; if it died, it died at the last one. */
  readonly points: readonly Point[];
  readonly facts: readonly Fact[];
}

/** Holds the conversation. When a process dies, another one continues. */
export const converse = async (options: ConverseOptions): Promise<Conversed> => {
  const pace = new Pace();
  const store = await options.openStore(pace.clock);
  try {
    return await pace.run(conversed(pace, store, options));
  } finally {
    await store.close();
  }
};

const conversed = async (pace: Pace, store: Store, options: ConverseOptions): Promise<Conversed> => {
  const facts: Fact[] = [];
  const left: (readonly Entry[])[] = [];
  const journal = async (): Promise<readonly Entry[]> =>
    entriesIn(await pace.outside(() => store.read(story.threadId)));
  const first = new Fuse(options.diesAt);
  for (const fuse of [first, new Fuse(options.diesAgainAt ?? null), new Fuse(null)]) {
    await Promise.race([oneLife(pace, store, options, fuse, facts), fuse.died]);
    if (fuse.alive) break;
    left.push(await journal());
  }
  return { journal: await journal(), left, points: first.points, facts };
};

const oneLife = async (
  pace: Pace,
  inner: Store,
  { begin = hostOn, runAgain }: ConverseOptions,
  fuse: Fuse,
  facts: Fact[],
): Promise<void> => {
  const sleep = (ms: number): Promise<void> => pace.sleep(ms);
  const watch = {
    fuse,
    sleep,
    record: (fact: Fact) => void facts.push(fact),
    outside: <Value>(call: () => Promise<Value>) => pace.outside(call),
  };
  const store = watchedStore(inner, watch);
  const life = begin({
    store,
    llm: watchedModel(store, watch),
    tools: watchedTools(store, watch),
    clock: doomedClock(pace.clock, fuse),
    sleep,
  });
  const answered = new Set(facts.flatMap((fact) => (fact.type === "answered" ? [fact.askId] : [])));
  const onAnswer = (answer: Omit<Extract<Fact, { type: "answered" }>, "type">): void =>
    void facts.push({ type: "answered", ...answer });
  await live(life, { sleep, isAlive: () => fuse.alive, runAgain, answered, onAnswer });
};

/** Makes a clock that calls no callback of a dead process. */
const doomedClock = (clock: Clock, fuse: Fuse): Clock => ({
  now: () => clock.now(),
  wakeAt: (dueAt, callback) =>
    clock.wakeAt(dueAt, () => {
      if (fuse.alive) callback();
    }),
});

const hostOn = (parts: LifeParts): Life => {
  const ids = sequentialIds();
  // All processes that die here use one lease owner, so the store recognises a dead one's lease.
  const owned = { draw: (kind: Parameters<typeof ids.draw>[0]) => (kind === "owner" ? "crashed" : ids.draw(kind)) };
  return hostLife(parts, { ids: owned, recovery: false });
};

/** Virtual time beside real files and sockets, which stops while one of them is awaited. */
class Pace {
  readonly clock: VirtualClock = virtualClock();
  #under = 0;
  #idle: PromiseWithResolvers<void> | null = null;

  async outside<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#under += 1;
    try {
      return await work();
    } finally {
      this.#under -= 1;
      if (this.#under === 0) {
        this.#idle?.resolve();
        this.#idle = null;
      }
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.wakeAt(this.clock.now() + ms, resolve));
  }

  /** Lets time pass until the promise is settled. @throws if that takes more than a day of virtual time */
  async run<Value>(promise: Promise<Value>): Promise<Value> {
    let settled = false;
    const outcome = promise.finally(() => (settled = true));
    // The caller gets a rejection below; it must not count as unhandled while time still passes.
    outcome.catch(() => undefined);
    const end = this.clock.now() + dayMs;
    while (!settled) {
      await nextMacrotask();
      if (this.#under > 0) {
        this.#idle ??= Promise.withResolvers();
        await this.#idle.promise;
      } else if (!settled) await this.clock.step();
      if (this.clock.now() > end) throw new Error("the conversation did not end within a day of virtual time");
    }
    return outcome;
  }
}

const dayMs = 86_400_000;
