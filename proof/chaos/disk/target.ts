// Uses a store of files on a simulated disk and cuts the power at a random moment: what was not flushed is lost, torn, or
// on the disk in another order than it was written. A fresh process then finds everything that was acknowledged, every
// journal can be read, and no snapshot or inbox item is torn.
import { runSeeds, sumOf } from "../../kit/seeded-runs.ts";
import { commandOf } from "../../kit/target.ts";
import { faults } from "./disk.ts";
import { run } from "./run.ts";

export const command = commandOf({
  name: "disk",
  stores: ["files"],
  faults,
  runs: [1000, "how many stores to use; the power of each is cut three times"],
  // One after the other: a process has one file system.
  run: ({ runs, seed, fault }) => runSeeds(runs, seed, (each) => run(each, fault)),
  totals: (runs) =>
    `${sumOf(runs, ({ cuts }) => cuts)} power cuts under ${runs.length} stores of files, and ` +
    `${sumOf(runs, ({ looks }) => looks)} states of the disk after them; ${sumOf(runs, ({ kills }) => kills)} processes ` +
    `died before. ${sumOf(runs, ({ acknowledged }) => acknowledged)} writes were acknowledged.`,
});
