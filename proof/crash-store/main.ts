// Kills processes that write to a store at full speed, with SIGKILL at a random moment, and has a fresh process look
// at what is left: everything that was acknowledged is there, there is no gap and nothing torn, the leases of the
// dead can be taken, and the next appends work. Exits with 1 when anything is wrong.
import { parseArgs } from "node:util";

import { faults, isFault } from "./faults.ts";
import type { Note } from "./notes.ts";
import { withProgram } from "./program.ts";
import { type Run, run, type Target } from "./run.ts";
import { isStoreKind, type StoreKind, storeKinds } from "./store-kinds.ts";
import { runConsecutive } from "../crash/consecutive.ts";

const usage = `Usage: pnpm crash-store [--store NAME] [--writing WHAT] [--runs N] [--seed S] [--fault NAME]

  --store NAME    ${storeKinds.join(" or ")} (default: one after the other)
  --writing WHAT  appends: entries alone; all: snapshots, letters and rewritten entries as well (default appends)
  --runs N        how many stores to fill; the writer of each is killed one to three times (default 200)
  --seed S        what the moments of the kills follow from; run i has the seed S + i (default: drawn)
  --fault NAME    build a mistake in, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                  ${name}: ${meaning}`)
  .join("\n")}`;

/** Runs of consecutive seeds, as many at once as there are processors. Stops early at a violation. */
export const crashStore = (runs: number, seed: number, target: Target): Promise<readonly Run[]> =>
  withProgram((program) => runConsecutive(runs, seed, (each) => run(program, each, target)));

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { stores, runs, seed, writing, fault } = options;
  for (const store of stores) await report(runs, seed, { store, writing, fault });
};

const report = async (runs: number, seed: number, target: Target): Promise<void> => {
  const started = performance.now();
  const done = await crashStore(runs, seed, target);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const failed = done.filter(({ violations }) => violations.length > 0);
  const totals = `${target.store}: ${totalsOf(done)}\nNothing is wrong. Seed ${seed}, ${seconds} s.`;
  if (failed.length === 0) console.log(totals);
  for (const { seed, folder, violations } of failed) {
    console.error(
      `Seed ${seed}: ${violations.length} violations. Its files ${target.fault === null ? `are in ${folder}` : "were removed"}.`,
    );
    for (const violation of violations.slice(0, 10)) console.error(`  ${violation}`);
  }
  if (failed.length > 0) process.exitCode = 1;
};

const totalsOf = (runs: readonly Run[]): string => {
  const sum = (of: (run: Run) => number): string =>
    runs.reduce((total, run) => total + of(run), 0).toLocaleString("en");
  const noted = (type: Note["type"]): string => sum((run) => run.noted[type] ?? 0);
  return [
    `${sum(({ kills }) => kills)} writers of ${runs.length} stores were killed.`,
    `Before that ${noted("appended")} entries were acknowledged, ${noted("rewritten")} rewritten ones, ` +
      `${noted("snapshot")} snapshots, ${noted("posted")} letters, ${noted("answered")} answers and ` +
      `${noted("discarded")} discarded letters.`,
    `After the last kills the stores hold ${sum(({ entries }) => entries)} entries.`,
  ].join("\n");
};

interface Options extends Omit<Target, "store"> {
  readonly stores: readonly StoreKind[];
  readonly runs: number;
  readonly seed: number;
}

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const string = { type: "string" } as const;
    const names = { store: string, writing: string, runs: string, seed: string, fault: string };
    const { values } = parseArgs({ args: [...given], options: names });
    const { store, writing = "appends", runs = "200", fault } = values;
    const { seed = String(Math.floor(Math.random() * 1_000_000)) } = values;
    if (store !== undefined && !isStoreKind(store)) return `there is no store "${store}"`;
    if (writing !== "appends" && writing !== "all") return `--writing is "${writing}"; give appends or all`;
    if (!/^[1-9]\d{0,5}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,8}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && !isFault(fault)) return `there is no fault "${fault}"`;
    const stores = store === undefined ? storeKinds : [store];
    return { stores, runs: Number(runs), seed: Number(seed), writing, fault: fault ?? null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

if (import.meta.main) await main();
