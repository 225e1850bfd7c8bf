import { setTimeout as pause } from "node:timers/promises";

import { createHost, type Host, type Store } from "@colloquy/host";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { ending, isPassing } from "../../kit/calls.ts";
import type { Fact } from "../story/facts.ts";
import { Fuse } from "../story/fuse.ts";
import { judge } from "../story/judge.ts";
import { type Asked, machineOf } from "../story/script.ts";
import { watchedModel, watchedStore, watchedTools } from "../story/watched.ts";

/** Hosts that converse on one thread, each over its own store, and ask again under the same id until they have the answer. */
export interface Conversing {
  /** Resolves when all are answered, with what went wrong. */
  readonly done: Promise<readonly string[]>;
  /** How often an ask was rejected, and asked again. */
  readonly again: () => number;
  /** Closes the hosts, and judges the journal, which a store reads without the network between. */
  readonly judge: (store: Store) => Promise<readonly string[]>;
}

export const startConversing = (stores: readonly Store[], limitMs: number): Conversing => {
  const facts: Fact[] = [];
  let again = 0;
  const hosts = stores.map((store) => hostOf(store, (fact) => void facts.push(fact)));
  const ask = async (host: Host, { askId, input }: Asked): Promise<readonly string[]> => {
    for (;;) {
      try {
        const { turn, text } = await ending(askId, limitMs, host.ask(input, { threadId, askId }));
        facts.push({ type: "answered", askId, turn, text });
        return [];
      } catch (error) {
        if (!isPassing(error)) return [`${askId}: ${String(error)}`];
        again += 1;
      }
      await pause(20);
    }
  };
  const asksOf = (host: number): readonly Asked[] =>
    Array.from({ length: asksEach }, (_, index) => ({ askId: `${host}-${index}`, input: `charge ${host}-${index}` }));
  const asking = hosts.flatMap((host, index) => asksOf(index).map((asked) => ask(host, asked)));
  return {
    done: Promise.all(asking).then((problems) => problems.flat()),
    again: () => again,
    judge: async (store) => {
      await Promise.all(hosts.map((host) => ending("host.close", limitMs, host.close())));
      const asked = hosts.flatMap((_, index) => asksOf(index));
      return judge({ journal: await store.read(threadId), asked, facts, machine: machineOf() });
    },
  };
};

const threadId = "conversation";
const asksEach = 4;

const hostOf = (inner: Store, record: (fact: Fact) => void): Host => {
  const watch = { fuse: new Fuse(null), record, sleep: async () => undefined };
  const store = watchedStore(inner, watch);
  return createHost({
    machine: machineOf(),
    store,
    tools: watchedTools(store, watch),
    llm: watchedModel(store, watch),
    clock: systemClock,
    ids: randomIds,
    leaseTtlMs: 500,
    storeTimeoutMs: 1_000,
    idleMs: 50,
    pollMs: 30,
    snapshotEvery: 5,
  });
};
