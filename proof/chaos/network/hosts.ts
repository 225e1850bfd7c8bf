import { createHost, type Host, type Store } from "@colloquy/host";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { ending, isPassing, repeating } from "../../kit/calls.ts";
import type { Fact } from "../story/facts.ts";
import { judge } from "../story/judge.ts";
import { type Asked, machineOf } from "../story/script.ts";
import { Fuse, watchedModel, watchedStore, watchedTools } from "../story/watched.ts";

/** Hosts that converse on one thread, each over its own store, and repeat each ask until it is answered. */
export interface Conversing {
  /** Resolves with the problems when all asks are answered. */
  readonly done: Promise<readonly string[]>;
  readonly again: () => number;
  /** Closes the hosts, and judges the journal in a store with a sound connection. */
  readonly judge: (store: Store) => Promise<readonly string[]>;
}

export const startConversing = (stores: readonly Store[], limitMs: number): Conversing => {
  const facts: Fact[] = [];
  let again = 0;
  const hosts = stores.map((store) => hostOf(store, (fact) => void facts.push(fact)));
  const ask = async (host: Host, { askId, input }: Asked): Promise<readonly string[]> => {
    const answer = () => ending(askId, limitMs, host.ask(input, { threadId, askId }));
    try {
      const { turn, text } = await repeating(answer, isPassing, 20, () => (again += 1));
      facts.push({ type: "answered", askId, turn, text });
      return [];
    } catch (error) {
      return [`${askId}: ${String(error)}`];
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
    // Threads that users of the same store write are not conversations.
    recovery: false,
    leaseTtlMs: 500,
    storeTimeoutMs: 1_000,
    idleMs: 50,
    pollMs: 30,
    snapshotEvery: 5,
  });
};
