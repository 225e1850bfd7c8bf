// Simulates conversations with faults, one for each seed, and checks the laws on them. At the first one that breaks a
// law, prints its seed, which repeats it, and exits with 1.
import { simulate, SimulationError } from "@colloquy/runtime-test/simulate";

import { runCommand } from "../kit/command.ts";
import { flag, seed, whole, workers } from "../kit/options.ts";
import { stopwatch } from "../kit/report.ts";
import { startThread } from "../kit/threads.ts";
import { add, noTotals, type Outcome, printed, type Seeds, type Totals } from "./worker.ts";

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

/** Deals seeds to workers, until the seeds are used up or a worker fails. */
const simulateAll = async (runs: number, seed: number, workers: number): Promise<Outcome> => {
  const end = seed + runs;
  let next = seed;
  let totals: Totals = noTotals;
  let problem: Outcome | null = null;
  const work = async (): Promise<void> => {
    const thread = startThread<Seeds, Outcome>(new URL("worker.ts", import.meta.url));
    while (next < end && problem === null) {
      const seeds = { from: next, count: Math.min(seedsAtOnce, end - next) };
      next += seeds.count;
      const outcome = await thread.ask(seeds);
      if ("problem" in outcome) problem ??= outcome;
      else totals = add(totals, outcome.totals);
    }
    await thread.end();
  };
  await Promise.all(Array.from({ length: Math.min(workers, Math.ceil(runs / seedsAtOnce)) }, work));
  return problem ?? { totals };
};

/** Enough seeds to make requests cheap, and few enough for all workers to end at about the same time. */
const seedsAtOnce = 250;

await runCommand({
  name: "simulate",
  options: {
    runs: whole(10_000, "the number of conversations to simulate"),
    seed: seed("the seed of the first; run i has the seed S + i", { most: Number.MAX_SAFE_INTEGER }),
    workers,
    trace: flag("only one run, with each of its steps as a line"),
  },
  run: async ({ runs, seed, workers, trace }) => {
    if (trace) return showTrace(seed);
    const seconds = stopwatch();
    const outcome = await simulateAll(runs, seed, workers);
    if ("problem" in outcome) {
      console.error(outcome.problem);
      process.exitCode = 1;
      return;
    }
    const rate = Math.round(runs / Number(seconds()));
    console.log(
      `${printed(outcome.totals)}\n\nNo law is broken. Seeds ${seed} to ${seed + runs - 1}, ${seconds()} s, ${rate}/s.`,
    );
  },
});
