// Crashes conversations and looks at what is left. Each run holds a conversation with tools in a child process, on
// a SQLite file, kills the child with SIGKILL at moments that follow from the run's seed, starts it again until the
// conversation is done, and checks after each kill and at the end that nothing acknowledged was lost and that each
// tool went on as its rule of recovery says. Exits with 1 when anything is wrong.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { type Fault, faults, isFault } from "./faults.ts";
import { withProgram } from "./program.ts";
import { run, type Run } from "./run.ts";
import { count, totalsOf } from "./totals.ts";
import { runConsecutive } from "./consecutive.ts";

const usage = `Usage: pnpm crash [--runs N] [--seed S] [--fault NAME]

  --runs N      how many conversations to crash (default 200)
  --seed S      what the moments of the kills follow from; run i has the seed S + i (default: drawn)
  --fault NAME  build a mistake in, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                ${name}: ${meaning}`)
  .join("\n")}`;

/** Runs conversations of consecutive seeds, as many at once as there are processors. Stops early at a violation. */
export const crash = (runs: number, seed: number, fault: Fault | null): Promise<readonly Run[]> =>
  withProgram(fileURLToPath(import.meta.resolve("./child.ts")), (program) =>
    runConsecutive(runs, seed, (each) => run(program, each, fault)),
  );

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { runs, seed, fault } = options;
  const started = performance.now();
  const done = await crash(runs, seed, fault);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const failed = done.filter(({ violations }) => violations.length > 0);
  if (failed.length === 0) console.log(`${totalsOf(done)}\nNothing is wrong. Seed ${seed}, ${seconds} s.`);
  for (const { seed, folder, violations } of failed) {
    const again = `pnpm crash --runs 1 --seed ${seed}${fault === null ? "" : ` --fault ${fault}`}`;
    console.error(`Seed ${seed}: ${count(violations.length, "violation")}. To see it again: ${again}`);
    if (fault === null) console.error(`  Its files are in ${folder}`);
    for (const violation of violations.slice(0, violationsShown)) console.error(`  ${violation}`);
  }
  process.exitCode = failed.length === 0 ? 0 : 1;
};

const violationsShown = 10;

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly fault: Fault | null;
}

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const string = { type: "string" } as const;
    const { values } = parseArgs({ args: [...given], options: { runs: string, seed: string, fault: string } });
    const { runs = "200", seed = String(Math.floor(Math.random() * 1_000_000)), fault } = values;
    if (!/^[1-9]\d{0,5}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,9}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && !isFault(fault)) return `there is no fault "${fault}"`;
    return { runs: Number(runs), seed: Number(seed), fault: fault ?? null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

if (import.meta.main) await main();
