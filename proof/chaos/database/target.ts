// Kills what writes to a store: processes that use SQLite or files at full speed, or PostgreSQL or Redis themselves.
// Everything that was acknowledged is there, nothing is torn or was never written, and the next uses continue.
import { availableParallelism } from "node:os";

import { flag } from "../../kit/options.ts";
import { withProgram } from "../../kit/program.ts";
import { runSeeds, sumOf } from "../../kit/seeded-runs.ts";
import { lateFaults } from "../store/faults.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { killServers, serverFaults } from "./servers.ts";
import { killWriters, type Run } from "./writers.ts";

const stores = ["sqlite", "files", "postgres", "redis"] as const;
const faults = { ...lateFaults, ...serverFaults };

/** Kills writers, or servers, of consecutive seeds. Stops early at a violation. */
export const killDatabases = (
  { store, runs, seed, fault }: Choice<(typeof stores)[number], keyof typeof faults>,
  onlyAppends = false,
): Promise<readonly Run[]> => {
  if (store === "postgres" || store === "redis") {
    const own = isOf(serverFaults, fault) ? fault : null;
    return runSeeds(runs, seed, (each) => killServers(store, each, own));
  }
  const own = isOf(lateFaults, fault) ? fault : null;
  return withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(
      runs,
      seed,
      (each) => killWriters(program, store, each, { onlyAppends, fault: own }),
      availableParallelism(),
    ),
  );
};

const isOf = <Fault extends string>(some: Readonly<Record<Fault, string>>, fault: string | null): fault is Fault =>
  fault !== null && Object.hasOwn(some, fault);

export const command = commandOf({
  name: "database",
  stores,
  ownServers: true,
  faults,
  runs: [20, "how many stores to fill; what writes to each is killed one to four times"],
  options: { appends: flag("only entries; else snapshots, inbox items and rewritten entries as well") },
  run: (choice, { appends }) => killDatabases(choice, appends),
  totals: (runs) =>
    `${sumOf(runs, ({ kills }) => kills)} kills of ${runs.length} stores or of what writes to them; ` +
    `${sumOf(runs, ({ acknowledged }) => acknowledged)} writes were acknowledged, ` +
    `${sumOf(runs, ({ failures }) => failures)} calls failed meanwhile.`,
});
