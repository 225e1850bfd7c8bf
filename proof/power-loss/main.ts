// Works with a store of files on a simulated disk and cuts the power at a random moment: what was not flushed is lost,
// torn, or on the disk in another order than it was written. A fresh process looks after each whether all that was
// acknowledged is there, every journal can be read, and no snapshot or envelope is torn. Exits with 1 when anything is wrong.
import { runCommand } from "../kit/command.ts";
import { fault, seed, whole } from "../kit/options.ts";
import { reportRuns, runSeeds, sumOf } from "../kit/seeded-runs.ts";
import { faults } from "./disk.ts";
import { type Run, run } from "./run.ts";

const totalsOf = (runs: readonly Run[]): string =>
  `${sumOf(runs, ({ cuts }) => cuts)} power cuts under ${runs.length} stores of files, and ` +
  `${sumOf(runs, ({ looks }) => looks)} states of the disk after them; ${sumOf(runs, ({ kills }) => kills)} processes ` +
  `died before. ${sumOf(runs, ({ acknowledged }) => acknowledged)} operations were acknowledged.`;

await runCommand({
  name: "power-loss",
  options: {
    runs: whole(1000, "how many stores to use; the power of each is cut three times"),
    seed: seed("what all that happens follows from; run i has the seed S + i"),
    fault: fault(faults),
  },
  // One after the other: a process has one file system.
  run: ({ runs, seed, fault }, again) =>
    reportRuns(
      runSeeds(runs, seed, (each) => run(each, fault)),
      totalsOf,
      seed,
      again,
    ),
});
