// Checks the laws of pruning for every shipped policy, and for compositions of them, on random conversations: one
// policy of each kind for each seed, with options from the seed. If a law is broken, prints the seed, which repeats it,
// and exits with 1; with 2 for invalid arguments.
import { runCommand } from "../kit/command.ts";
import { oneOf, seed, whole, workers } from "../kit/options.ts";
import { stopwatch } from "../kit/report.ts";
import { askThreads } from "../kit/threads.ts";
import { kinds, type Outcome, type Share } from "./worker.ts";

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
  run: async ({ seeds, seed, policy: kind, workers }, again) => {
    console.log(`seeds ${seed} to ${seed + seeds - 1} of ${kind ?? names.join(", ")}`);
    const seconds = stopwatch();
    const step = Math.min(workers, seeds);
    const shares = Array.from({ length: step }, (_, part): Share => {
      return { first: seed + part, count: seeds - part, step, kind };
    });
    const outcomes = await askThreads<Outcome>(new URL("worker.ts", import.meta.url), shares);
    const policies = outcomes.reduce((total, outcome) => total + outcome.policies, 0);
    const broken = outcomes.flatMap((outcome) => outcome.broken);
    for (const { seed, kind, problem } of broken)
      console.error(`\n${problem}\n\nTo see it again: ${again({ seeds: 1, seed, policy: kind })}`);
    console.log(`checked the laws of pruning for ${policies} policies; ${broken.length} broke one, in ${seconds()} s`);
    process.exitCode = broken.length === 0 ? 0 : 1;
  },
});
