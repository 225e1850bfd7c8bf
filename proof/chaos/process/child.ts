// Holds the story on a store, until it is done or killed. `target.ts` starts this process.
import { setTimeout as delay } from "node:timers/promises";

import { declarationsOf, type Store, StoreError, ThreadHeldError } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { repeating } from "../../kit/calls.ts";
import { type FolderPlace, openStore } from "../../kit/places.ts";
import { methodsOf } from "../../kit/store-methods.ts";
import { recorderOf } from "../story/facts.ts";
import { hostLife, type Life, live } from "../story/life.ts";
import { storyMachine } from "../story/script.ts";
import { Fuse, watchedModel, watchedStore, watchedTools } from "../story/watched.ts";
import { appendWith, falseStore, type Fault, faultyStore, sentWith } from "./faults.ts";

export interface ChildOptions {
  readonly place: FolderPlace;
  readonly synchronous: "NORMAL" | "FULL";
  readonly facts: string;
  /** The point of its work at which the process kills itself, from 1; null for never. */
  readonly diesAt: number | null;
  readonly runAgain: boolean;
  readonly fault: Fault | null;
}

/** The exit code of a child that lost its lease, for example because it had to wait too long. */
export const leaseLostCode = 75;

const main = async (options: ChildOptions): Promise<void> => {
  const { place, synchronous, fault, runAgain, diesAt } = options;
  const fuse = new Fuse(diesAt, () => process.kill(process.pid, "SIGKILL"));
  const record = recorderOf(options.facts);
  const sleep = (ms: number): Promise<void> => delay(ms);
  const watch = { fuse, record, sleep, append: appendWith(fault) };
  const opened = openStore(place, { synchronous });
  const store = watchedStore(dyingStore(faultyStore(opened, fault), fuse), watch);
  const overrule = fault === "interrupted-runs-again" ? ({ notify: { recovery: "rerun" } } as const) : {};
  const tools = watchedTools(store, watch, overrule);
  const parts = {
    store: falseStore(store, fault),
    llm: watchedModel(store, watch, sentWith(fault)),
    tools,
    clock: systemClock,
    sleep,
  };
  const life = hostLife(parts, { ids: randomIds, machine: storyMachine(declarationsOf(tools)) });
  process.stdout.write("ready\n");
  await live(patient(life), {
    sleep,
    isAlive: () => true,
    runAgain,
    // All asks are repeated, and must get their earlier answers.
    answered: new Set(),
    onAnswer: (answer) => record({ type: "answered", ...answer }),
  });
  await opened.close();
};

const dyingStore = (store: Store, fuse: Fuse): Store => {
  const around =
    <Given extends readonly unknown[], Value>(what: string, call: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> => {
      fuse.passes("before", what);
      const value = await call(...given);
      fuse.passes("after", what);
      return value;
    };
  return {
    ...methodsOf(store),
    acquire: around("acquire", (...given: Parameters<Store["acquire"]>) => store.acquire(...given)),
    read: around("read", (...given: Parameters<Store["read"]>) => store.read(...given)),
    saveSnapshot: around("snapshot", (...given: Parameters<Store["saveSnapshot"]>) => store.saveSnapshot(...given)),
  };
};

/** Waits until the thread is free, as the lease of a killed child has to expire. */
const patient = (life: Life): Life => {
  const again = <Value>(call: () => Promise<Value>): Promise<Value> =>
    repeating(call, (error) => error instanceof ThreadHeldError, 10);
  return {
    ...life,
    ask: (askId) => again(() => life.ask(askId)),
    approve: (...given) => again(() => life.approve(...given)),
  };
};

const lostLease = (error: unknown): boolean =>
  error instanceof LeaseLostError || (error instanceof StoreError && error.cause instanceof LeaseLostError);

if (import.meta.main) {
  try {
    // The parent process writes these options.
    await main(JSON.parse(process.argv[2] ?? "") as ChildOptions);
  } catch (error) {
    if (lostLease(error)) process.exit(leaseLostCode);
    console.error(error);
    process.exit(1);
  }
}
