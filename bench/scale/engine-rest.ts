// Measures the memory and disk that idle threads take on an engine.
import { setTimeout as pause } from "node:timers/promises";

import type { Host } from "@colloquy/host";

import { type EnginePlace, type EngineWorker, onEngine } from "./engine-place.ts";
import { idsOf, importThreads, inLanes, variedText } from "./engine-threads.ts";
import type { Cost } from "./timing.ts";

export interface RestOptions {
  readonly threads: number;
  readonly seconds: number;
  /** The Redis of the hub of some asks; null for none. */
  readonly redisUrl: string | null;
}

/** Imports threads of ten turns, and makes a tenth as many by asks on another server. */
export const engineAtRest = async (options: RestOptions): Promise<readonly Cost[]> => [
  ...(await onPlace(options, imported)),
  ...(await onPlace(options, asked)),
];

interface Empty extends RestOptions {
  readonly place: EnginePlace;
  readonly worker: EngineWorker;
  readonly host: Host;
  /** The size on disk without any thread. */
  readonly bytes: number;
}

const onPlace = (options: RestOptions, measure: (empty: Empty) => Promise<readonly Cost[]>): Promise<readonly Cost[]> =>
  onEngine(options.redisUrl, async (place, newHost) => {
    const worker = await place.startWorker({ redisUrl: options.redisUrl, snapshotEvery: 64 });
    return measure({ ...options, place, worker, host: newHost(), bytes: await diskAtRest(place) });
  });

const imported = async ({ place, worker, host, bytes, threads, seconds }: Empty): Promise<readonly Cost[]> => {
  const { resident: fresh } = place.facts();
  await importThreads(host, idsOf("imported", threads), 2 * turns);
  const { resident: filled } = place.facts();
  const disk = (await diskAtRest(place)) - bytes;
  const { micros } = place.facts();
  await pause(seconds * 1_000);
  const { micros: rested, resident } = place.facts();
  const kept = await place.kept();
  const entries = kept.find(({ kind }) => kind === "entry")?.count ?? Number.NaN;
  return [
    { name: "on disk", value: disk / threads, unit: "bytes a thread" },
    { name: "on disk", value: disk / entries, unit: "bytes an entry" },
    ...kept.flatMap((each) => [
      { name: `keys of the kind "${each.kind}"`, value: each.count / threads, unit: "a thread" },
      { name: "values of these", value: each.bytes / each.count, unit: "bytes a key" },
    ]),
    { name: "memory of the server, empty", value: fresh / 1e6, unit: "MB" },
    { name: "memory of the server, just filled", value: filled / 1e6, unit: "MB" },
    { name: "memory of the server, started again", value: resident / 1e6, unit: "MB" },
    { name: "memory of the worker", value: (await worker.facts()).resident / 1e6, unit: "MB" },
    { name: "CPU of the server at rest", value: (rested - micros) / 1_000 / seconds, unit: "ms a second" },
  ];
};

const asked = async ({ place, host, bytes, threads }: Empty): Promise<readonly Cost[]> => {
  const some = Math.ceil(threads / 10);
  await inLanes(idsOf("asked", some), async (threadId, index) => {
    for (let turn = 0; turn < turns; turn++) await host.ask(variedText(index * turns + turn), { threadId });
  });
  const disk = (await diskAtRest(place)) - bytes;
  const calls = await place.query(
    "SELECT target_handler_name AS handler, count(*) AS count FROM sys_invocation WHERE status = 'completed' GROUP BY 1",
  );
  return [
    { name: "on disk within an hour of its asks", value: disk / some, unit: "bytes a thread" },
    // Cast: the query names these columns.
    ...(calls as readonly { readonly handler: string; readonly count: number }[]).map(({ handler, count }) => ({
      name: `calls of ${handler} whose results are kept for the hour`,
      value: count / some,
      unit: "a thread",
    })),
  ];
};

const turns = 10;

/** Returns the size of the threads' database, once it is complete and its files were merged. */
const diskAtRest = async (place: EnginePlace): Promise<number> => {
  let least = Infinity;
  for (let time = 0; time < 3; time++) {
    await place.restart();
    await pause(500);
    least = Math.min(least, place.disk()["db"] ?? Number.NaN);
  }
  return least;
};
