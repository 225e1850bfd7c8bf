// Kills processes that write to a store at full speed, with SIGKILL at a random moment, and has a fresh process check
// the rest: every acknowledged entry is there, there is no gap and nothing torn, the leases of the dead can be taken,
// and the next appends work. Exits with 1 when anything is wrong.
import { availableParallelism } from "node:os";

import { runCommand } from "../kit/command.ts";
import { fault, oneOf, seed, someOf, whole } from "../kit/options.ts";
import { withProgram } from "../kit/program.ts";
import { reportRuns, runSeeds, sumOf } from "../kit/seeded-runs.ts";
import { faults } from "./faults.ts";
import type { Note } from "./notes.ts";
import { type Run, run, type Target } from "./run.ts";
import { storeKinds } from "./stores.ts";

/** Runs of consecutive seeds, as many at once as there are processors. Stops early at a violation. */
export const crashStore = (runs: number, seed: number, target: Target): Promise<readonly Run[]> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(runs, seed, (each) => run(program, each, target), availableParallelism()),
  );

const totalsOf = (runs: readonly Run[]): string => {
  const noted = (type: Note["type"]): string => sumOf(runs, (run) => run.noted[type] ?? 0);
  return [
    `${sumOf(runs, ({ kills }) => kills)} writers of ${runs.length} stores were killed.`,
    `Before that ${noted("appended")} entries were acknowledged, ${noted("rewritten")} rewritten ones, ` +
      `${noted("snapshot")} snapshots, ${noted("posted")} envelopes, ${noted("answered")} answers and ` +
      `${noted("discarded")} discarded envelopes.`,
    `After the last kills the stores have ${sumOf(runs, ({ entries }) => entries)} entries.`,
  ].join("\n");
};

if (import.meta.main)
  await runCommand({
    name: "crash-store",
    options: {
      store: someOf(storeKinds, `${storeKinds.join(" or ")} (default: one after the other)`),
      writing: oneOf(
        ["appends", "all"],
        "appends",
        "appends: entries alone; all: snapshots, envelopes and rewritten entries as well (default appends)",
      ),
      runs: whole(200, "how many stores to fill; the writer of each is killed one to three times"),
      seed: seed("what the moments of the kills follow from; run i has the seed S + i"),
      fault: fault(faults),
    },
    run: async ({ store: stores, runs, seed, writing, fault }, again) => {
      for (const store of stores)
        await reportRuns(
          crashStore(runs, seed, { store, writing, fault }),
          (done) => `${store}: ${totalsOf(done)}`,
          seed,
          (changes) => again({ ...changes, store }),
        );
    },
  });
