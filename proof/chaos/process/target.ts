// A process that holds the story is killed with SIGKILL, at points of its work and at any moment, and started again
// until it is done.
import { availableParallelism } from "node:os";

import { withProgram } from "../../kit/program.ts";
import { count } from "../../kit/report.ts";
import { runSeeds, sumOf } from "../../kit/seeded-runs.ts";
import { table } from "../story/table.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { type Fault, faults } from "./faults.ts";
import { type Run, run } from "./run.ts";

const stores = ["sqlite", "files"] as const;

/** Kills processes of consecutive seeds, as many at once as there are processors. Stops early at a violation. */
export const killProcesses = ({
  store,
  runs,
  seed,
  fault,
}: Choice<(typeof stores)[number], Fault>): Promise<readonly Run[]> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(runs, seed, (each) => run(program, store, each, fault), availableParallelism()),
  );

export const command = commandOf({
  name: "process",
  stores,
  faults,
  runs: [200, "how many conversations to kill"],
  run: (choice) => killProcesses(choice),
  totals: (runs) => {
    const rows = runs.flatMap((run) => run.rows);
    const fell = table.map(({ name }) => `${name} ${rows.filter((row) => row === name).length}`);
    return (
      `${count(runs.length, "conversation")}, killed ${sumOf(runs, ({ kills }) => kills)} times, went on to their ends.\n` +
      `${sumOf(runs, ({ acknowledged }) => acknowledged)} entries were acknowledged; ` +
      `${sumOf(runs, ({ entries }) => entries)} are there. Outstanding at a kill: ${fell.join(", ")}.`
    );
  },
});
