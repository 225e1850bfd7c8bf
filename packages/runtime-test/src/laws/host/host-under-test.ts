import { type Clock, createHost, type Host, type HostOptions, memoryStore, type Store } from "@colloquy/host";
import { checkOptions } from "@colloquy/host/store";
import type * as fc from "fast-check";
import { runningClock } from "../../ports/virtual-clock.ts";
import { runKinds } from "../evidence/run-kinds.ts";
import { LawBroken } from "../evidence/law-broken.ts";

/** The host and the store that a law is checked for. The defaults are Colloquy's own. */
export interface HostUnderTest {
  /** Makes a host from these options. Default `createHost`. */
  readonly createHost?: (options: HostOptions) => Host;
  /** Makes an empty store, for one conversation. Default `memoryStore`. */
  readonly createStore?: (options: { readonly clock: Clock }) => Store | Promise<Store>;
  /**
   * Makes the clock. Default `runningClock()`, which never waits in real time. A store that waits for a socket or a
   * disk needs the real clock.
   */
  readonly createClock?: () => Clock;
}

/** How often a law is checked, and from which seed. */
export interface HostLawRun {
  /** The number of conversations. Each law documents its default. */
  readonly runs?: number;
  /** Repeats a run that was reported. */
  readonly seed?: number;
  /** The path that was reported with the seed: leads to that same conversation. */
  readonly path?: string;
}

/**
 * The clock and the store of one conversation, and a function that opens hosts over both, each like another process.
 */
export interface Ground {
  readonly clock: Clock;
  readonly store: Store;
  readonly open: (options: Omit<HostOptions, "clock" | "store" | "ids"> & { readonly store?: Store }) => Host;
  /** Resolves after this time on the clock. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Plays one conversation, with a clock and a store of its own. A conversation that never ends breaks the law: a host
 * that waits for a forgotten ask polls its store forever, and a clock without real waits would let it. Afterwards the
 * clock calls no callback any more.
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

/** Makes a clock that calls back at most `wakeUpsMax` times, and never once it is stopped. */
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
