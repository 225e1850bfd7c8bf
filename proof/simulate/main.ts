// Simulates conversations with faults, one for each seed, and holds them to the laws. Exits with 1 at the first one
// that breaks a law, having said its seed, which shows it again.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

import { simulate, SimulationError } from "@colloquy/runtime-test/simulate";

import type { Outcome, Seeds } from "./seeds.ts";
import { add, noTotals, printed, type Totals } from "./totals.ts";

const usage = `Usage: pnpm simulate [--runs N] [--seed S] [--workers W] [--trace]

  --runs N     how many conversations to simulate (default 10000)
  --seed S     the seed of the first one; run i has the seed S + i (default: drawn)
  --workers W  how many threads do it (default: as many as there are processors)
  --trace      only one run, and all that happens in it, line by line`;

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly workers: number;
  readonly trace: boolean;
}

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  if (options.trace) {
    await showTrace(options.seed);
    return;
  }
  const started = performance.now();
  const outcome = await simulateAll(options);
  const seconds = (performance.now() - started) / 1000;
  if ("problem" in outcome) {
    console.error(outcome.problem);
    process.exitCode = 1;
    return;
  }
  const rate = Math.round(options.runs / seconds);
  console.log(printed(outcome.totals));
  console.log(
    `\nNo law is broken. Seeds ${options.seed} to ${options.seed + options.runs - 1}, ${seconds.toFixed(1)} s, ${rate}/s.`,
  );
};

const showTrace = async (seed: number): Promise<void> => {
  try {
    console.log((await simulate({ seed })).trace.join("\n"));
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error;
    console.log(error.trace.join("\n"));
    console.error(`law ${error.law} is broken here: ${error.what}`);
    process.exitCode = 1;
  }
};

/** Deals the seeds out to workers, until they are used up or one of them went wrong. */
const simulateAll = async ({ runs, seed, workers }: Options): Promise<Outcome> => {
  const end = seed + runs;
  let next = seed;
  let totals: Totals = noTotals;
  let problem: Outcome | null = null;
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL("worker.ts", import.meta.url));
    while (next < end && problem === null) {
      const seeds = { from: next, count: Math.min(seedsAtOnce, end - next) };
      next += seeds.count;
      const outcome = await askWorker(worker, seeds);
      if ("problem" in outcome) problem ??= outcome;
      else totals = add(totals, outcome.totals);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: workers }, work));
  return problem ?? { totals };
};

const askWorker = (worker: Worker, seeds: Seeds): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("message", (outcome: Outcome) => {
      worker.off("error", reject);
      resolve(outcome);
    });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage(seeds);
  });

/** Enough that asking costs nothing, and few enough that all workers end at about the same time. */
const seedsAtOnce = 250;

const optionsOf = (args: string[]): Options | string => {
  try {
    const { values } = parseArgs({
      args,
      options: {
        runs: { type: "string", default: "10000" },
        seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
        workers: { type: "string", default: String(availableParallelism()) },
        trace: { type: "boolean", default: false },
      },
    });
    const [runs, seed, workers] = [Number(values.runs), Number(values.seed), Number(values.workers)];
    if (!isCount(runs, 1)) return `--runs is ${values.runs}; it must be a whole number of 1 or more`;
    if (!isCount(seed, 0)) return `--seed is ${values.seed}; it must be a whole number of 0 or more`;
    if (!isCount(workers, 1)) return `--workers is ${values.workers}; it must be a whole number of 1 or more`;
    return { runs, seed, workers: Math.min(workers, Math.ceil(runs / seedsAtOnce)), trace: values.trace };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

const isCount = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;

await main();
