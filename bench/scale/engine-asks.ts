// Measures asks on an engine: the CPU of its server, of its worker and of the asking process, which is this one.
import type { Host } from "@colloquy/host";

import { cpuMicros } from "../kit/measure.ts";
import { type EnginePlace, type EngineWorker, onEngine } from "./engine-place.ts";
import { variedText } from "./engine-threads.ts";
import type { Cost } from "./timing.ts";

export interface EngineAsksOptions {
  /** The Redis of the asker's hub; null: it polls every 20 milliseconds. */
  readonly redisUrl: string | null;
  /** The number of simultaneous asks, each on its own thread. */
  readonly lanes: number;
  /** The length of each round; the lowest figures count. */
  readonly seconds: number;
}

export const engineAsks = (options: EngineAsksOptions): Promise<readonly Cost[]> =>
  onEngine(options.redisUrl, async (place, newHost) => {
    const { redisUrl, lanes, seconds } = options;
    const host = newHost();
    const worker = await place.startWorker({ redisUrl, snapshotEvery: 64 });
    // These asks compile the code that runs often.
    await askFor(host, lanes, seconds);
    const before = await worker.facts();
    const all: Round[] = [];
    for (let round = 0; round < rounds; round++) all.push(await roundOf(place, worker, host, options));
    const { calls } = await worker.facts();
    const asks = all.reduce((sum, round) => sum + round.asks, 0);
    const leastOf = (figure: (round: Round) => number): number => Math.min(...all.map(figure));
    return [
      { name: "asks a second", value: Math.max(...all.map((round) => round.asks / seconds)), unit: "" },
      { name: "half of the asks are answered within", value: leastOf(({ times }) => quantile(times, 0.5)), unit: "ms" },
      { name: "99 of 100 are", value: leastOf(({ times }) => quantile(times, 0.99)), unit: "ms" },
      { name: "CPU of the server", value: leastOf((round) => round.server / round.asks), unit: "µs an ask" },
      { name: "CPU of the worker", value: leastOf((round) => round.worker / round.asks), unit: "µs an ask" },
      { name: "CPU of who asks", value: leastOf((round) => round.asker / round.asks), unit: "µs an ask" },
      { name: "written by the server", value: leastOf((round) => round.written / round.asks), unit: "bytes an ask" },
      ...Object.entries(calls).map(([handler, count]) => ({
        name: `calls of ${handler}`,
        value: (count - (before.calls[handler] ?? 0)) / asks,
        unit: "an ask",
      })),
    ];
  });

const rounds = 3;
/** The number of turns of a thread, after which another begins. */
const turnsOfThread = 10;

interface Round {
  readonly asks: number;
  readonly times: readonly number[];
  /** Microseconds of CPU, as the next two. */
  readonly server: number;
  readonly worker: number;
  readonly asker: number;
  /** Bytes. */
  readonly written: number;
}

const roundOf = async (
  place: EnginePlace,
  worker: EngineWorker,
  host: Host,
  { lanes, seconds }: EngineAsksOptions,
): Promise<Round> => {
  const [server, { micros }, asker] = [place.facts(), await worker.facts(), cpuMicros()];
  const times = await askFor(host, lanes, seconds);
  const after = place.facts();
  return {
    asks: times.length,
    times: times.toSorted((one, other) => one - other),
    server: after.micros - server.micros,
    worker: (await worker.facts()).micros - micros,
    asker: cpuMicros() - asker,
    written: after.written - server.written,
  };
};

const askFor = async (host: Host, lanes: number, seconds: number): Promise<readonly number[]> => {
  const times: number[] = [];
  const [prefix, until] = [Date.now(), performance.now() + seconds * 1_000];
  const lane = async (number: number): Promise<void> => {
    for (let turn = 0; performance.now() < until; turn++) {
      const began = performance.now();
      await host.ask(variedText(turn), { threadId: `${prefix}-${number}-${Math.floor(turn / turnsOfThread)}` });
      times.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  return times;
};

const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.floor((ascending.length - 1) * share)] ?? Number.NaN;
