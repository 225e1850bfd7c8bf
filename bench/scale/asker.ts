// One of the processes that ask as fast as they can, on PostgreSQL. It reports when it is warm and continues to ask.
// Its parent says when counting starts. It then reports its figures, and ends when its parent disconnects.
import { setImmediate as nextMacrotask } from "node:timers/promises";

import { createHost, memoryStore, type Store } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";
import { randomIds, systemClock } from "@colloquy/runtime-node";

import { openStore, type ServerPlace } from "../../proof/kit/places.ts";
import { cpuMicros } from "../kit/measure.ts";
import { userText } from "../kit/script.ts";
import { instantAnswer } from "../kit/work.ts";

export interface AskerOptions {
  /** The place of threads; null for memory, to see the costs without a store. */
  readonly place: ServerPlace | null;
  readonly seconds: number;
  /** The number of simultaneous asks, each on its own thread. */
  readonly outstanding: number;
  /** The number of turns of a thread, after which another begins. */
  readonly turns: number;
  /** Begins the ids of its threads, unlike those of any other process. */
  readonly prefix: string;
}

export interface Asked {
  readonly asks: number;
  readonly seconds: number;
  readonly micros: number;
  /** Calls of the store, by the name of the method. */
  readonly calls: Readonly<Record<string, number>>;
}

const ask = async ({ place, seconds, outstanding, turns, prefix }: AskerOptions): Promise<void> => {
  const store = place === null ? memoryStore({ clock: systemClock }) : openStore(place);
  const { counted, calls } = counting(store);
  const host = createHost({
    machine: conversationMachine({ policy: lastTurns(10) }),
    store: counted,
    // The model answers only after other work had its turn.
    llm: (call, context) => nextMacrotask().then(() => instantAnswer(call, context)),
    clock: systemClock,
    ids: randomIds,
    idleMs: 0,
  });
  let asks = 0;
  let isOver = false;
  const lane = async (number: number): Promise<void> => {
    for (let turn = 0; !isOver; turn++, asks++)
      await host.ask(userText(turn), { threadId: `${prefix}-${number}-${Math.floor(turn / turns)}` });
  };
  const lanes = Array.from({ length: outstanding }, (_, number) => lane(number));
  // Then all threads are open, and hot code is compiled.
  while (asks < outstanding * turns) await new Promise((resolve) => setTimeout(resolve, 50));
  process.send?.("warm");
  await message("count");
  const [asksBefore, microsBefore, began] = [asks, cpuMicros(), performance.now()];
  for (const name of Object.keys(calls)) calls[name] = 0;
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const asked: Asked = {
    asks: asks - asksBefore,
    seconds: (performance.now() - began) / 1_000,
    micros: cpuMicros() - microsBefore,
    calls: { ...calls },
  };
  process.send?.(asked);
  // The connections stay open, so that the server still reports their costs.
  await message("go");
  isOver = true;
  await Promise.all(lanes);
  await host.close();
  await store.close();
  process.disconnect?.();
};

const message = (wanted: string): Promise<void> =>
  new Promise((resolve) => {
    process.on("message", function listen(given) {
      if (given !== wanted) return;
      process.off("message", listen);
      resolve();
    });
  });

const counting = (store: Store): { readonly counted: Store; readonly calls: Record<string, number> } => {
  const calls: Record<string, number> = {};
  const counted = <Port extends object>(port: Port, within: string): Port =>
    new Proxy(port, {
      get: (target, name, receiver) => {
        const member: unknown = Reflect.get(target, name, receiver);
        const path = `${within}${String(name)}`;
        if (name === "inbox" && typeof member === "object" && member !== null) return counted(member, `${path}.`);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]): unknown => {
          calls[path] = (calls[path] ?? 0) + 1;
          return Reflect.apply(member, target, args);
        };
      },
    });
  return { counted: counted(store, ""), calls };
};

// Cast: only `asks.ts` starts it.
await ask(JSON.parse(process.argv[2] ?? "null") as AskerOptions);
