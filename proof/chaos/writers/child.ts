// One of the processes that write one thread: asks, many at a time, and answers whatever is asked while it has the
// lease of the thread. Started by `writer.ts`; it goes when its standard input ends.
import { setImmediate as nextMacrotask, setTimeout as delay } from "node:timers/promises";

import { createHost, type Host } from "@colloquy/host";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { isPassing } from "../../kit/calls.ts";
import { openStore, type StorePlace } from "../../kit/places.ts";
import type { Fact } from "../story/facts.ts";
import { Fuse } from "../story/fuse.ts";
import type { Asked } from "../story/script.ts";
import { watchedModel, watchedStore } from "../story/watched.ts";
import { asksOf, machine, type Report, threadId } from "./thread.ts";

/** The options of a child, as JSON in its first argument. */
export interface ChildOptions {
  readonly place: StorePlace;
  /** Which of the children it is, from 1. */
  readonly writer: number;
  readonly asks: number;
  /** How many asks of its own it has out at a time. */
  readonly outstanding: number;
  readonly leaseTtlMs: number;
}

const main = async ({ place, writer, asks, outstanding, leaseTtlMs }: ChildOptions): Promise<void> => {
  const opened = openStore(place);
  const watch = { fuse: new Fuse(null), record: (fact: Fact) => report(fact), sleep: () => nextMacrotask() };
  const store = watchedStore(opened, watch);
  const host = createHost({
    machine,
    store,
    llm: watchedModel(store, watch),
    clock: systemClock,
    ids: randomIds,
    whenHeld: "enqueue",
    leaseTtlMs,
    pollMs: 20,
    idleMs: 100,
  });
  const left = [...asksOf(writer, asks)];
  const work = async (): Promise<void> => {
    for (let asked = left.shift(); asked !== undefined; asked = left.shift()) await askUntilAnswered(host, asked);
  };
  await Promise.all(Array.from({ length: outstanding }, work));
  report({ type: "over" });
  await inputEnded;
  await host.close();
  await opened.close();
};

/** Resolves when the parent needs no more reports. */
const inputEnded = new Promise<void>((resolve) => {
  process.stdin.once("end", resolve);
  process.stdin.resume();
});

const askUntilAnswered = async (host: Host, { askId, input }: Asked): Promise<void> => {
  for (;;) {
    try {
      const { turn, text } = await host.ask(input, { threadId, askId });
      return report({ type: "answered", askId, turn, text });
    } catch (error) {
      if (!isPassing(error)) throw error;
      report({ type: "again", because: String(error) });
      await delay(20);
    }
  }
};

const report = (line: Report): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

// It is started with nothing else than what its parent has made.
await main(JSON.parse(process.argv[2] ?? "null") as ChildOptions);
