// Works with a store of files on a simulated disk and cuts the power at a random moment: what was not flushed is lost,
// torn, or on the disk in another order than it was written. A fresh process looks after each whether all that was
// acknowledged is there, every journal can be read, and no snapshot or letter is torn. Exits with 1 when anything is wrong.
import { parseArgs } from "node:util";

import { faults, type Fault, isFault } from "./faults.ts";
import { type Run, run } from "./run.ts";

const usage = `Usage: pnpm power-loss [--runs N] [--seed S] [--fault NAME]

  --runs N      how many stores to use; the power of each is cut three times (default 1000)
  --seed S      what all that happens follows from; run i has the seed S + i (default: drawn)
  --fault NAME  build a mistake in, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                ${name}: ${meaning}`)
  .join("\n")}`;

/** Runs of consecutive seeds, one after the other: a process has one file system. Stops at a violation. */
const powerLoss = async (runs: number, seed: number, fault: Fault | null): Promise<readonly Run[]> => {
  const done: Run[] = [];
  while (done.length < runs && done.every(({ violations }) => violations.length === 0))
    done.push(await run(seed + done.length, fault));
  return done;
};

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { runs, seed, fault } = options;
  const started = performance.now();
  const done = await powerLoss(runs, seed, fault);
  const failed = done.find(({ violations }) => violations.length > 0);
  if (failed !== undefined) {
    console.error(`Seed ${failed.seed}: ${failed.violations.length} violations.`);
    for (const violation of failed.violations.slice(0, 10)) console.error(`  ${violation}`);
    process.exitCode = 1;
    return;
  }
  const sum = (of: (run: Run) => number): string =>
    done.reduce((total, each) => total + of(each), 0).toLocaleString("en");
  console.log(
    `${sum(({ cuts }) => cuts)} power cuts under ${done.length} stores of files, and ${sum(({ looks }) => looks)} states of the disk after them; ` +
      `${sum(({ kills }) => kills)} processes died before. ${sum(({ acknowledged }) => acknowledged)} operations were acknowledged.`,
  );
  console.log(`Nothing is wrong. Seed ${seed}, ${((performance.now() - started) / 1000).toFixed(1)} s.`);
};

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
    const { runs = "1000", seed = String(Math.floor(Math.random() * 1_000_000)), fault } = values;
    if (!/^[1-9]\d{0,5}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,8}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && !isFault(fault)) return `there is no fault "${fault}"`;
    return { runs: Number(runs), seed: Number(seed), fault: fault ?? null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

await main();
