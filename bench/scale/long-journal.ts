// Measures a growing thread on a SQLite file: asking at its end, opening it and reading it.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { createHost, type Host } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import type { StorePlace } from "../../proof/kit/places.ts";
import { cpuMicros } from "../kit/measure.ts";
import { userText } from "../kit/script.ts";
import { instantAnswer } from "../kit/work.ts";
import { onStore } from "./many-threads.ts";
import { bytesIn } from "./place-facts.ts";
import { type Cost, least } from "./timing.ts";

/**
 * Asks until the thread has `entries` entries, and measures. It continues the thread of an earlier call at the place.
 */
export const longJournal = async (place: StorePlace, entries: number): Promise<readonly Cost[]> => {
  const before = heap();
  const [micros, held] = await onHost(place, {}, async (host) => {
    await askUntil(host, entries - measured);
    const began = cpuMicros();
    await askUntil(host, entries);
    return [((cpuMicros() - began) * entriesOfTurn) / measured, heap() - before];
  });
  const state = (options: object) => (): Promise<void> =>
    onHost(place, options, async (host) => void (await host.thread(id).ask(userText(1))));
  return [
    { name: "a turn at the end", value: micros, unit: "µs of CPU" },
    { name: "memory of the open thread", value: held / 1e6, unit: "MB" },
    { name: "room for an entry", value: (await bytesIn(place)) / entries, unit: "bytes" },
    { name: "open by the snapshot, and ask", value: await least(3, state({})), unit: "ms" },
    { name: "open by the whole journal, and ask", value: await least(2, state({ snapshotEvery: 0 })), unit: "ms" },
    { name: "read all entries", value: await least(2, () => onStore(place, (store) => store.read(id))), unit: "ms" },
  ];
};

const id = "long";
const entriesOfTurn = 2;
/** The number of measured entries at the end of the thread. */
const measured = 1_000;

const askUntil = async (host: Host, entries: number): Promise<void> => {
  const thread = host.thread(id);
  let there = 0;
  while (there < entries) {
    const { turn } = await thread.ask(userText(there));
    there = turn * entriesOfTurn;
  }
};

const onHost = <A>(place: StorePlace, options: object, use: (host: Host) => Promise<A>): Promise<A> =>
  onStore(place, async (store) => {
    const machine = conversationMachine({ policy: lastTurns(10) });
    const host = createHost({ machine, store, llm: instantAnswer, clock: systemClock, ids: randomIds, ...options });
    try {
      return await use(host);
    } finally {
      await host.close();
    }
  });

const heap = (): number => {
  setFlagsFromString("--expose-gc");
  // Cast: a context that is made after the flag is set has the function.
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
};
