// Compares a turn late in a long thread with an early one, under a windowed policy.
import type { Host } from "@colloquy/host";
import { lastTurns } from "@colloquy/machine/policies";
import { benchmarkHost, fileStore, onFile } from "./kit/hosts.ts";
import { cpuMicros, type Figure, figureOf, median, type Pair } from "./kit/measure.ts";
import { userText } from "./kit/script.ts";
import { lookupMachine } from "./kit/work.ts";

/** The late turn, in memory and on SQLite, where reaching it takes longer. */
const late = { memory: 100_000, sqlite: 10_000 };
const early = 10;
const window = 100;

export const benchmark = async (rounds: number): Promise<readonly Figure[]> => {
  const machine = lookupMachine({ policy: lastTurns(10) });
  const memory = await grow(benchmarkHost({ machine }), late.memory, rounds);
  const sqlite = await onFile(async (path) => {
    const store = fileStore(path);
    const costs = await grow(benchmarkHost({ store, machine }), late.sqlite, rounds);
    await store.close();
    return costs;
  });
  return [figure("in memory", late.memory, memory), figure("on SQLite", late.sqlite, sqlite)];
};

/** Measures, in each round, late turns of a long thread and then early turns on fresh threads, in one warm process. */
const grow = async (host: Host, turns: number, rounds: number): Promise<Pair> => {
  const long = host.thread("long");
  for (let turn = 1; turn <= turns - window * rounds; turn++) await long.ask(userText(turn));
  const lateCosts: number[] = [];
  const earlyCosts: number[] = [];
  for (let round = 0; round < rounds; round++) {
    lateCosts.push(
      await cost(async () => {
        for (let turn = 0; turn < window; turn++) await long.ask(userText(turn));
      }),
    );
    const threads = Array.from({ length: window / early }, (_, index) => host.thread(`short-${round}-${index}`));
    for (const thread of threads) for (let turn = 0; turn < early; turn++) await thread.ask(userText(turn));
    earlyCosts.push(
      await cost(async () => {
        for (const thread of threads) for (let turn = 0; turn < early; turn++) await thread.ask(userText(turn));
      }),
    );
  }
  await host.close();
  const [ours, reference] = [median(lateCosts), median(earlyCosts)];
  return { ours, reference, ratio: ours / reference };
};

const cost = async (work: () => Promise<void>): Promise<number> => {
  const before = cpuMicros();
  await work();
  return (cpuMicros() - before) / window;
};

const figure = (where: string, turns: number, measured: Pair): Figure =>
  figureOf(`a turn at ${turns} / at ${early} to ${early * 2}, ${where}`, measured, 1.5);
