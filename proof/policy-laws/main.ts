// Checks the laws of pruning for every shipped policy, and for compositions of them, on random conversations: one
// policy of each kind for each seed, with options from the seed. If a law is broken, prints the seed, which repeats it,
// and exits with 1; with 2 for invalid arguments.
import { runCommand } from "../kit/command.ts";
import { oneOf, seed, whole, workers } from "../kit/options.ts";
import { reportRuns, runSeeds, type SeededRun } from "../kit/report.ts";
import { withThreads } from "../kit/threads.ts";
import { kinds, type Question } from "./worker.ts";

const names = Object.keys(kinds);

await runCommand({
  name: "policy-laws",
  options: {
    seeds: whole(100, "the number of seeds to check"),
    // The range of fast-check's seeds.
    seed: seed("the first seed; the next are S + 1, S + 2, …", { least: -(2 ** 31), most: 2 ** 31 - 1 }),
    policy: oneOf(names, null, `only this policy: ${names.join(", ")}`),
    workers,
  },
  run: ({ seeds, seed, policy, workers }, again) =>
    withThreads<SeededRun, void>(new URL("worker.ts", import.meta.url), Math.min(workers, seeds), (ask) =>
      reportRuns(
        `the laws of pruning for ${policy ?? names.join(", ")}`,
        runSeeds(seeds, seed, (each) => ask({ seed: each, policy } satisfies Question), workers),
        seed,
        (changes) => again({ ...changes, seeds: 1 }),
      ),
    ),
});
