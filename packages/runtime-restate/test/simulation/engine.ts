import { type Performer, performerOf } from "@colloquy/host/perform";
import type { Store } from "@colloquy/host/store";
import type { Entry, State } from "@colloquy/machine";
import { fold } from "@colloquy/machine/journal";
import { loadAll, SnapshotDamagedError } from "@colloquy/machine/storage";
import { virtualClock } from "@colloquy/runtime-test";
import { differenceOf } from "@colloquy/runtime-test/laws";
import type { IngressClient } from "@restatedev/restate-sdk-clients";
import * as Either from "fp-ts/lib/Either.js";
import { handlersByHand } from "../../src/by-hand.ts";
import { engineStore } from "../../src/engine-store.ts";
import type { ThreadHandlers } from "../../src/handlers.ts";
import { type Hub, memoryHub } from "../../src/hub.ts";
import { cutHandler, performHandler } from "../../src/perform.ts";
import { tellHandler } from "../../src/tell.ts";
import { entryKey, KnownThreads, type WorkerContext } from "../../src/thread-state.ts";
import { converse, type Held, type Plan, World } from "./conversation.ts";
import type { Handle, HandlerName } from "./invocation.ts";
import { randomBy } from "./random.ts";
import { Restate } from "./restate.ts";

export interface Case extends Plan {
  readonly seed: number;
  readonly snapshotEvery: number;
  /** The most deaths. */
  readonly strikes: number;
  /** The percentage of deaths that only lose a connection. */
  readonly lost: number;
}

/** The faults that a test injects, to see that they are noticed. */
export interface Seeded {
  readonly worker?: (worker: WorkerContext) => WorkerContext;
  readonly handlers?: (handlers: ThreadHandlers, worker: WorkerContext) => ThreadHandlers;
}

/** A conversation on the engine, with its world. */
export interface Simulated extends Held {
  readonly world: World;
  readonly restate: Restate;
}

/** Holds a conversation on two workers, one of which dies at times. */
export const simulate = async (given: Case, seeded: Seeded = {}): Promise<Simulated> => {
  const world = new World(virtualClock(), given);
  const { restate, store } = engineIn(world, given, seeded);
  const host = world.host({ store, snapshotEvery: 0, pollMs: 1_000 });
  const held = await ending(world, restate, converse(world, host, given));
  return { ...held, world, restate };
};

/** Makes an engine whose workers die by a case, and the store in front of it. */
export const engineIn = (
  world: World,
  given: Omit<Case, keyof Plan>,
  seeded: Seeded = {},
): { readonly restate: Restate; readonly store: Store } => {
  const { clock } = world;
  const random = randomBy(given.seed);
  const hub = losing(memoryHub(), () => given.strikes > 0 && random() < 0.1);
  const makeWorker = (): Handle => {
    const plainly = performerOf({ clock, machine: world.machine, tools: world.tools, llm: world.llm });
    const performer = { ...plainly, decide: watched(plainly, (threadId) => restate.stateOf(threadId)) };
    const { snapshotEvery } = given;
    const known = new KnownThreads(10);
    const plain: WorkerContext = { performer, hub, object: { name: "thread" }, known, snapshotEvery };
    const worker = seeded.worker?.(plain) ?? plain;
    const own = handlersOf(worker);
    const handlers = seeded.handlers?.(own, worker) ?? own;
    // The double has all that handlers use of a context, and passes on their requests unchanged.
    return (name, context, input) => (handlers[name] as UntypedHandler)(context, input);
  };
  const { strikes, lost } = given;
  const restate = new Restate(clock, { random, chance: strikes > 0 ? 0.03 : 0, most: strikes, lost }, makeWorker);
  const store = engineStore({ clock, hub, thread: (threadId) => clientOf(restate, threadId) });
  return { restate, store };
};

/** Holds the conversation on a host in memory, without deaths. */
export const reference = (plan: Plan): Promise<Held> => {
  const world = new World(virtualClock(), plan);
  return ending(world, null, converse(world, world.host(), plan));
};

/** Checks at each decision that the worker's state is the one that the entries fold to. */
const watched =
  (performer: Performer, stored: (threadId: string) => ReadonlyMap<string, string>): Performer["decide"] =>
  (threadId, state, event, how) => {
    const difference = state === null ? null : differenceFrom(stored(threadId), state);
    if (difference !== null) throw new Error(`it is decided by another state than the journal's: ${difference}`);
    return performer.decide(threadId, state, event, how);
  };

const differenceFrom = (stored: ReadonlyMap<string, string>, state: State): string | null => {
  const keys = Array.from({ length: state.context.seq + 1 }, (_, seq) => entryKey(seq));
  const entries = keys.map((key): Entry => JSON.parse(stored.get(key) ?? "null"));
  // A dead attempt may still have a state with redacted words.
  if (entries.some((entry) => entry === null || "redacted" in entry)) return null;
  const folded = fold(entries);
  if (Either.isLeft(folded)) return folded.left.reason;
  try {
    return differenceOf(folded.right.context, loadAll(state).context);
  } catch (thrown) {
    if (thrown instanceof SnapshotDamagedError) return null;
    throw thrown;
  }
};

type UntypedHandler = (context: unknown, input: unknown) => Promise<unknown>;

const handlersOf = (worker: WorkerContext): ThreadHandlers => ({
  tell: tellHandler(worker),
  cut: cutHandler(worker),
  perform: performHandler(worker),
  ...handlersByHand(worker),
});

const clientOf = (restate: Restate, threadId: string): IngressClient<ThreadHandlers> => {
  type Options = { readonly opts: { readonly idempotencyKey?: string } } | undefined;
  const get = (_: unknown, name: string | symbol) => (input: unknown, options: Options) =>
    restate.call(threadId, name as HandlerName, input, options?.opts.idempotencyKey);
  // Its members are the names of handlers, with their results.
  return new Proxy({}, { get }) as IngressClient<ThreadHandlers>;
};

/** Makes a hub that loses some messages, which must not matter. */
const losing = (hub: Hub, isLost: () => boolean): Hub => ({
  ...hub,
  publish: (threadId, message) => {
    if (!isLost()) hub.publish(threadId, message);
  },
});

/** @throws Error if it does not end within an hour, or if an impossible event happens */
export const ending = async <Ended>(world: World, restate: Restate | null, held: Promise<Ended>): Promise<Ended> => {
  const { clock } = world;
  const until = clock.now() + 3_600_000;
  let isOver = false;
  const noted = held.finally(() => {
    isOver = true;
  });
  noted.catch(() => {});
  while (!isOver) {
    const [problem] = restate?.problems ?? [];
    if (problem !== undefined) throw new Error(problem);
    if (!(await clock.step()) || clock.now() > until) {
      if (!isOver) throw new Error("it hangs");
    }
  }
  return noted;
};
