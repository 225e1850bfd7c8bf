// One of several processes that write one thread: sends many asks at a time, and answers all asks while it has the
// lease. `target.ts` starts it; it ends when its standard input does.
import { setImmediate as nextMacrotask } from "node:timers/promises";

import { createHost, type Host } from "@colloquy/host";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { isPassing, repeating } from "../../kit/calls.ts";
import { openStore, type StorePlace } from "../../kit/places.ts";
import type { Fact } from "../story/facts.ts";
import type { Asked } from "../story/script.ts";
import { Fuse, watchedModel, watchedStore } from "../story/watched.ts";
import { asksOf, machine, type Report, threadId } from "./thread.ts";

export interface ChildOptions {
  readonly place: StorePlace;
  readonly writer: number;
  readonly asks: number;
  readonly leaseTtlMs: number;
}

const asksAtOnce = 32;

const main = async ({ place, writer, asks, leaseTtlMs }: ChildOptions): Promise<void> => {
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
  await Promise.all(Array.from({ length: asksAtOnce }, work));
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
  const { turn, text } = await repeating(
    async () => host.ask(input, { threadId, askId }),
    isPassing,
    20,
    (error) => report({ type: "again", because: String(error) }),
  );
  report({ type: "answered", askId, turn, text });
};

const report = (line: Report): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

// The parent process writes these options.
await main(JSON.parse(process.argv[2] ?? "null") as ChildOptions);
