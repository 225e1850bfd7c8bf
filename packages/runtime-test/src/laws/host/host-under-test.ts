import { type Clock, createHost, type Host, type HostOptions, memoryStore, type Store } from "@colloquy/host";
import { runningClock } from "../../ports/virtual-clock.ts";
import { LawBroken } from "../evidence/law-broken.ts";
import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";

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

/** The clock and the store of one conversation. Each host that is opened on them stands for another process. */
export interface Testbed {
  readonly clock: Clock;
  readonly store: Store;
  readonly open: (options: Omit<HostOptions, "clock" | "store" | "ids"> & { readonly store?: Store }) => Host;
  /** Resolves after this time on the clock. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Plays one conversation, with its own clock and store. Afterwards the clock calls no callback any more. A conversation
 * that never ends breaks the law: otherwise a host that waits for a lost ask would poll its store forever.
 */
export const onTestbed = async <Value>(
  subject: HostUnderTest,
  law: string,
  play: (testbed: Testbed) => Promise<Value>,
): Promise<Value> => {
  const { createClock = runningClock } = subject;
  const endless = Promise.withResolvers<never>();
  const { clock, stop } = boundedClock(createClock(), () =>
    endless.reject(new LawBroken(law, `the conversation did not come to rest within ${wakeUpsMax} wake-ups`)),
  );
  try {
    return await Promise.race([testbedOf(subject, clock).then(play), endless.promise]);
  } finally {
    stop();
  }
};

/** The longest conversations of these laws need about a hundred. */
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

const testbedOf = async (subject: HostUnderTest, clock: Clock): Promise<Testbed> => {
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

/** Returns the state to which entries fold. @throws LawBroken if they do not fold; `where` comes before its message */
export const foldedUnder = (law: string, entries: readonly Entry[], where = ""): State => {
  const state = fold(entries);
  if (Either.isRight(state)) return state.right;
  const { seq, reason } = state.left;
  throw new LawBroken(law, `${where}the journal can't be folded: entry ${seq}: ${reason}`);
};

/** Returns the state after one more entry; the first one starts a journal. @throws LawBroken as above */
export const stateAfter = (law: string, state: State | null, entry: Entry, where = ""): State =>
  // The type of `event` does not narrow that of the entry: the first one alone has the format.
  state === null || "format" in entry ? foldedUnder(law, [entry], where) : foldEntry(state, entry satisfies LaterEntry);
