// Compares asking a thread that is not in an engine worker's memory with asking one that is.
import type { Host } from "@colloquy/host";

import { freePort } from "../../proof/servers/process.ts";
import { type EnginePlace, type EngineWorker, onEngine } from "./engine-place.ts";
import { idsOf, importThreads, inLanes, variedText } from "./engine-threads.ts";
import { type Cost, elapsed } from "./timing.ts";

export interface WakingOptions {
  readonly entries: number;
  /** 0: none. */
  readonly snapshotEvery: number;
  /** The number of woken threads; the shortest time counts. */
  readonly wakings: number;
  /** The Redis of the asker's hub; null: it polls every 20 milliseconds. */
  readonly redisUrl: string | null;
}

export const waking = ({ entries, snapshotEvery, wakings, redisUrl }: WakingOptions): Promise<readonly Cost[]> =>
  onEngine(redisUrl, async (place, newHost) => {
    const [ids, others] = [idsOf("long", wakings), idsOf("other", wakings)];
    const first = await place.startWorker({ redisUrl, snapshotEvery, port: await freePort() });
    const host = newHost();
    await importThreads(host, [...ids, ...others], entries - 2 * asksBefore);
    // The first ask writes a snapshot. The others add half as many entries as may follow one.
    await inLanes([...ids, ...others], async (threadId) => {
      for (let turn = 0; turn < asksBefore; turn++) await host.ask(variedText(turn), { threadId });
    });
    await first.stop();
    const worker = await place.startWorker({ redisUrl, snapshotEvery, port: first.port });
    // Compiles the code that runs often, on threads that are not measured.
    for (let time = 0; time < 5; time++) await askTwice(place, worker, newHost(), others);
    const [cold] = await askTwice(place, worker, newHost(), ids);
    const [warm, known] = await askTwice(place, worker, newHost(), ids);
    return [
      ...costsOf("cold: neither the worker nor who asks knows it", cold),
      ...costsOf("warm: the worker knows it", warm),
      ...costsOf("both know it", known),
      { name: "milliseconds, cold to warm", value: cold.ms / warm.ms, unit: "times" },
      { name: "CPU of worker and server, cold to warm", value: cpuOf(cold) / cpuOf(warm), unit: "times" },
      { name: "milliseconds, warm to both", value: warm.ms / known.ms, unit: "times" },
      { name: "CPU of worker and server, warm to both", value: cpuOf(warm) / cpuOf(known), unit: "times" },
    ];
  });

const asksBefore = 16;

interface Woken {
  /** The least of all threads. */
  readonly ms: number;
  /** The mean CPU in microseconds; `server` likewise. */
  readonly worker: number;
  readonly server: number;
  readonly journal: number;
}

/** Asks some threads, each twice in a row. The asking host releases them soon. */
const askTwice = async (
  place: EnginePlace,
  worker: EngineWorker,
  host: Host,
  ids: readonly string[],
): Promise<readonly [first: Woken, second: Woken]> => {
  const all: (readonly [Woken, Woken])[] = [];
  const ask = async (threadId: string): Promise<Woken> => {
    const [server, before] = [place.facts(), await worker.facts()];
    const ms = await elapsed(() => host.ask(variedText(1), { threadId }));
    const after = await worker.facts();
    return {
      ms,
      worker: after.micros - before.micros,
      server: place.facts().micros - server.micros,
      journal: (after.calls["journal"] ?? 0) - (before.calls["journal"] ?? 0),
    };
  };
  for (const threadId of ids) all.push([await ask(threadId), await ask(threadId)]);
  return [ofAll(all.map(([first]) => first)), ofAll(all.map(([, second]) => second))];
};

const ofAll = (all: readonly Woken[]): Woken => {
  const mean = (figure: (woken: Woken) => number): number =>
    all.reduce((sum, woken) => sum + figure(woken), 0) / all.length;
  return {
    ms: Math.min(...all.map(({ ms }) => ms)),
    worker: mean(({ worker }) => worker),
    server: mean(({ server }) => server),
    journal: mean(({ journal }) => journal),
  };
};

const cpuOf = ({ worker, server }: Woken): number => worker + server;

const costsOf = (name: string, { ms, worker, server, journal }: Woken): readonly Cost[] => [
  { name, value: ms, unit: "ms" },
  { name: `${name}: CPU of the worker`, value: worker, unit: "µs an ask" },
  { name: `${name}: CPU of the server`, value: server, unit: "µs an ask" },
  { name: `${name}: journals that are read`, value: journal, unit: "an ask" },
];
