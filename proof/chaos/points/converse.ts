import type { Clock, Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { sequentialIds } from "@colloquy/runtime-test";

import { entriesIn } from "../../kit/journal.ts";
import type { Fact } from "../story/facts.ts";
import { Fuse, type Point } from "../story/fuse.ts";
import { hostLife, type Life, type LifeParts, live } from "../story/life.ts";
import { story } from "../story/script.ts";
import { watchedModel, watchedStore, watchedTools } from "../story/watched.ts";
import { Pace } from "./pace.ts";

/** In which store a conversation takes place, who holds it, and where its processes die. */
export interface ConverseOptions {
  /** Begins a process. Default: one with a host. */
  readonly begin?: (parts: LifeParts) => Life;
  /** Its time is the clock's. */
  readonly openStore: (clock: Clock) => Promise<Store>;
  /** The number of the point at which the process dies, from 1; null for never. */
  readonly diesAt: number | null;
  /** As above, of the process after it. Default null. */
  readonly diesAgainAt?: number | null;
  /** Whether the person who is asked lets a tool of unknown outcome run again. */
  readonly runAgain: boolean;
}

/** The outcome of a conversation that continued to its end. */
export interface Conversed {
  readonly journal: readonly Entry[];
  /** The journal as each crash left it. */
  readonly left: readonly (readonly Entry[])[];
  /** The points that the first process passed; the last one is where it died, if it did. */
  readonly points: readonly Point[];
  readonly facts: readonly Fact[];
}

/** Holds the conversation: when a process dies, another one continues. */
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

/** A clock that calls no callback of a dead process. */
const doomedClock = (clock: Clock, fuse: Fuse): Clock => ({
  now: () => clock.now(),
  wakeAt: (dueAt, callback) =>
    clock.wakeAt(dueAt, () => {
      if (fuse.alive) callback();
    }),
});

const hostOn = (parts: LifeParts): Life => {
  const ids = sequentialIds();
  // All processes that die here take leases under one name, so the store knows a dead one's lease.
  const owned = { draw: (kind: Parameters<typeof ids.draw>[0]) => (kind === "owner" ? "crashed" : ids.draw(kind)) };
  return hostLife(parts, { ids: owned, recovery: false });
};
