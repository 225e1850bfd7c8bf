// Measures listing, searching, opening and deleting in a store with many threads.
import { createHost, type ListOptions, type Store } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { openStore, type StorePlace } from "../../proof/kit/places.ts";
import { userText } from "../kit/script.ts";
import { instantAnswer } from "../kit/work.ts";
import { fill, madeAt, metadataOf, threadIdOf, wordsOfThread } from "./filling.ts";
import { bytesIn, settle } from "./place-facts.ts";
import { type Cost, elapsed, least } from "./timing.ts";

/** Adds threads to a place that already has `filled`, and measures. */
export const manyThreads = async (place: StorePlace, filled: number, threads: number): Promise<readonly Cost[]> => {
  await fill(place, filled, threads);
  await settle(place);
  return [
    { name: "room for a thread", value: (await bytesIn(place)) / threads, unit: "bytes" },
    ...(await onStore(place, (store) => listing(store, threads))),
    ...(await onStore(place, (store) => searching(store, threads))),
    await onStore(place, (store) => asking(store, threads)),
    await deleting(place, threads),
  ];
};

const listing = async (store: Store, threads: number): Promise<readonly Cost[]> => {
  const middle = Math.floor(threads / 2);
  const list = async (name: string, options: ListOptions, expected: number): Promise<Cost> => ({
    name: `list ${name}`,
    value: await least(times, async () => expectCount(name, (await store.list(options)).threads, expected)),
    unit: "ms",
  });
  const { tenant, order } = metadataOf(middle);
  const updated = { from: madeAt(middle), until: madeAt(middle + 1) };
  return [
    await list("the newest 100", {}, 100),
    await list("100 from the middle", { created: { until: madeAt(middle) } }, 100),
    await list("100 at most, whose metadata has what 1 of 1,000 has", { metadata: { tenant } }, threads / 1_000),
    await list("the one whose metadata has this", { metadata: { order } }, 1),
    await list("the one that changed then", { updated }, 1),
    await list("the one that was made then", { created: updated }, 1),
  ];
};

const searching = async (store: Store, threads: number): Promise<readonly Cost[]> => {
  const { all, some, one } = wordsOfThread(Math.floor(threads / 2));
  const search = async (name: string, often: number, words: string, expected: number): Promise<Cost> => ({
    name: `search for ${name}`,
    value: await least(often, async () => expectCount(name, (await store.search?.(words))?.hits ?? [], expected)),
    unit: "ms",
  });
  return [
    await search("a word, the first time", 1, one, 1),
    await search("what one entry says", times, one, 1),
    await search("what 1 of 1,000 threads says, 20 hits at most", times, some, threads / 1_000),
    await search("what all entries say, 20 hits", times, all, 20),
    await search("one of these and one of those", times, `${all} ${one}`, 1),
  ];
};

/** The number of repetitions that shows the cost despite other load. Long work is repeated less often. */
const times = 7;

const expectCount = (name: string, found: readonly unknown[], expected: number): void => {
  const most = Math.min(expected, name.includes("20") ? 20 : 100);
  if (found.length !== most) throw new Error(`${name}: ${found.length} were found instead of ${most}`);
};

/** Measures asking through a host, which also shows that the copied threads can continue. */
const asking = async (store: Store, threads: number): Promise<Cost> => {
  const machine = conversationMachine();
  const host = createHost({ machine, store, llm: instantAnswer, clock: systemClock, ids: randomIds, idleMs: 0 });
  const value = await least(opened, (time) =>
    host.ask(userText(2), { threadId: threadIdOf(Math.floor((threads * (time + 0.5)) / opened)) }),
  );
  await host.close();
  return { name: "open a thread and ask", value, unit: "ms" };
};

const opened = 50;

const deleting = async (place: StorePlace, threads: number): Promise<Cost> => {
  const value = await onStore(place, (store) => elapsed(() => store.delete(threadIdOf(threads - 1))));
  // Restores the thread for the next measurements.
  await fill(place, threads - 1, threads);
  return { name: "delete a thread", value, unit: "ms" };
};

export const onStore = async <A>(place: StorePlace, use: (store: Store) => Promise<A>): Promise<A> => {
  const store = openStore(place);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
};
