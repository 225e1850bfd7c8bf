import { type Clock, createHost, type Host, type HostOptions, memoryStore, type Store } from "@colloquy/host";
import { checkOptions } from "@colloquy/host/store";
import type * as fc from "fast-check";
import { runningClock } from "../../ports/virtual-clock.ts";
import { runKinds } from "../evidence/run-kinds.ts";
import { LawBroken } from "../evidence/law-broken.ts";

/** The host and the store that a law is to hold for. What is left out is Colloquy's own. */
export interface HostUnderTest {
  /** Makes a host, with all that it is given. Default `createHost`. */
  readonly createHost?: (options: HostOptions) => Host;
  /** Makes an empty store, for one conversation. Default `memoryStore`. */
  readonly createStore?: (options: { readonly clock: Clock }) => Store | Promise<Store>;
  /** Default `runningClock()`, on which no time is lost. A store that waits for a socket or a disk needs the real one. */
  readonly createClock?: () => Clock;
}

/** How often a law is tried, and from which seed. */
export interface HostLawRun {
  /** How many conversations it is held to the law on. Each law says its default. */
  readonly runs?: number;
  /** Repeats a run that was reported. */
  readonly seed?: number;
  /** As reported with the seed: leads to the very conversation. */
  readonly path?: string;
}

/** One conversation's clock, store, and way to make hosts over both, each as another process would. */
export interface Ground {
  readonly clock: Clock;
  readonly store: Store;
  readonly open: (options: Omit<HostOptions, "clock" | "store" | "ids"> & { readonly store?: Store }) => Host;
  /** Resolves when so much time has passed on the clock. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Plays one conversation, on a ground of its own. A conversation that never comes to rest breaks the law: a host that waits
 * for an ask which was forgotten polls its store for ever, and a clock that loses no time would let it. Afterwards the clock
 * calls no callback any more.
 */
export const onGround = async <Value>(
  subject: HostUnderTest,
  law: string,
  play: (ground: Ground) => Promise<Value>,
): Promise<Value> => {
  const { createClock = runningClock } = subject;
  const restless = Promise.withResolvers<never>();
  const { clock, stop } = boundedClock(createClock(), () =>
    restless.reject(new LawBroken(law, `the conversation did not come to rest within ${wakeUpsMax} wake-ups`)),
  );
  try {
    return await Promise.race([groundOf(subject, clock).then(play), restless.promise]);
  } finally {
    stop();
  }
};

/** The longest conversations of these laws need some hundred. */
const wakeUpsMax = 10_000;

/** A clock that calls back at most `wakeUpsMax` times, and not at all once it is stopped. */
const boundedClock = (clock: Clock, onMax: () => void): { readonly clock: Clock; readonly stop: () => void } => {
  let left = wakeUpsMax;
  return {
    stop: () => (left = 0),
    clock: {
      now: () => clock.now(),
      wakeAt: (dueAt, callback, kind) =>
        clock.wakeAt(
          dueAt,
          () => {
            if (left === 0) return;
            if (--left === 0) onMax();
            else callback();
          },
          kind,
        ),
    },
  };
};

const groundOf = async (subject: HostUnderTest, clock: Clock): Promise<Ground> => {
  const { createHost: make = createHost, createStore = memoryStore } = subject;
  const store = await createStore({ clock });
  let drawn = 0;
  const ids: HostOptions["ids"] = { draw: (kind) => `${kind}-${(drawn += 1)}` };
  return {
    clock,
    store,
    // Each law opens several hosts, which must not continue each other's threads.
    open: (options) => make({ clock, store, ids, recovery: false, ...options }),
    sleep: (ms) => new Promise((resolve) => clock.wakeAt(clock.now() + ms, resolve)),
  };
};

/** Returns the parameters of `fc.assert`. @throws ConfigurationError for an invalid `run` */
export const parametersOf = (
  of: string,
  run: HostLawRun,
  defaultRuns: number,
): Pick<fc.Parameters, "numRuns" | "includeErrorInReport" | "seed" | "path"> => {
  checkOptions(of, run, runKinds);
  const { runs, seed, path } = run;
  return {
    numRuns: runs ?? defaultRuns,
    includeErrorInReport: true,
    ...(seed === undefined ? {} : { seed }),
    ...(path === undefined ? {} : { path }),
  };
};
