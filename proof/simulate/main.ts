// Simulates conversations with faults, one for each seed, and checks the laws on them. At the first one that breaks a
// law, prints its seed, which repeats it, and exits with 1.
import { simulate, SimulationError } from "@colloquy/runtime-test/simulate";

import { runCommand } from "../kit/command.ts";
import { flag, seed, whole, workers } from "../kit/options.ts";
import { reportRuns, runSeeds, type SeededRun } from "../kit/report.ts";
import { withThreads } from "../kit/threads.ts";

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

await runCommand({
  name: "simulate",
  options: {
    runs: whole(10_000, "the number of conversations to simulate"),
    seed: seed("the seed of the first; run i has the seed S + i", { most: Number.MAX_SAFE_INTEGER }),
    workers,
    trace: flag("only one run, with each of its steps as a line"),
  },
  run: ({ runs, seed, workers, trace }, again) =>
    trace
      ? showTrace(seed)
      : withThreads<SeededRun, void>(new URL("worker.ts", import.meta.url), Math.min(workers, runs), (ask) =>
          reportRuns("simulations that break no law", runSeeds(runs, seed, ask, workers), seed, again),
        ),
});
