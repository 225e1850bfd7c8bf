// Simulates conversations with faults, one for each seed, and checks the laws on them. Exits with 1 at the first one
// that breaks a law, having printed its seed, which shows it again.
import { simulate, SimulationError } from "@colloquy/runtime-test/simulate";

import { runCommand } from "../kit/command.ts";
import { flag, seed, whole, workers } from "../kit/options.ts";
import { stopwatch } from "../kit/report.ts";
import { startThread } from "../kit/threads.ts";
import { add, noTotals, printed, type Totals } from "./totals.ts";
import type { Outcome, Seeds } from "./worker.ts";

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

/** Enough that asking costs nothing, and few enough that all workers end at about the same time. */
const seedsAtOnce = 250;

await runCommand({
  name: "simulate",
  options: {
    runs: whole(10_000, "how many conversations to simulate"),
    seed: seed("the seed of the first one; run i has the seed S + i", { most: Number.MAX_SAFE_INTEGER }),
    workers,
    trace: flag("only one run, and all that happens in it, line by line"),
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
