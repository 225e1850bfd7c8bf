// Puts small faults into the machine, one at a time and in memory only, and holds each against the machine's own
// tests. Prints those that no test notices. Exits with 1 when fewer than the share asked for are noticed, with 2 for
// arguments that are invalid.
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { equivalent } from "./equivalent.ts";
import { hunt, type Hunt } from "./hunt.ts";
import type { Mutant } from "./mutations.ts";

const usage = `Usage: pnpm mutants [--count N] [--seed S] [--share P] [--in FOLDER] [--workers W]

  --count N    how many mutants to draw (default 60)
  --seed S     which ones (default 1); a change of the sources changes only the mutants of the lines it touches
  --share P    how many of them the tests have to notice, from 0 to 1 (default 0.95)
  --in FOLDER  only mutants of this folder or file of packages/machine/src
  --workers W  how many processes do it (default: as many as there are processors)`;

interface Options {
  readonly count: number;
  readonly seed: number;
  readonly share: number;
  readonly folder: string;
  readonly workers: number;
}

const root = join(import.meta.dirname, "../..");
const sources = "packages/machine/src";

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${usage}\n\n${options}`);
    process.exitCode = 2;
    return;
  }
  const started = performance.now();
  const subject = {
    root,
    source: sources,
    mutated: options.folder,
    tests: "packages/machine/test/**/*.test.ts",
    sources: ["packages/*/{src,test}/**/*.ts", "packages/*/package.json"],
    equivalent,
    // The slowest of the machine's tests takes less than half of it.
    secondsWithoutProgressMax: 15,
  };
  let held = 0;
  const found = await hunt(subject, options, (outcome, mutant) => {
    if (outcome === "survived") console.log(printed(mutant));
    if (++held % 20 === 0) console.error(`${held} of ${options.count}, after ${secondsSince(started)} s`);
  });
  console.log(`\n${summary(found, options)}, in ${secondsSince(started)} s`);
  for (const { path, original, mutated } of found.stale) {
    console.error(`stale in proof/mutants/equivalent.ts, remove it: ${path}\n  - ${original}\n  + ${mutated}`);
  }
  for (const problem of found.problems) console.error(problem);
  const passed = shareOf(found) >= options.share && found.stale.length === 0 && found.problems.length === 0;
  process.exitCode = passed ? 0 : 1;
};

const shareOf = ({ killed, survivors }: Hunt): number => killed / (killed + survivors.length);

const printed = ({ path, line, original, mutated }: Mutant): string =>
  `alive: ${path}:${line}\n  - ${original}\n  + ${mutated === "" ? "(removed)" : mutated}`;

const secondsSince = (started: number): string => ((performance.now() - started) / 1000).toFixed(0);

const summary = (found: Hunt, { seed, share, folder }: Options): string => {
  const total = found.killed + found.survivors.length;
  const percent = (of: number): string => `${(of * 100).toFixed(1)} %`;
  return `${total} of ${found.mutants.toLocaleString("en")} mutants of ${folder}, seed ${seed}: ${found.killed} killed (${found.timeouts} of them came to no end), ${found.survivors.length} alive: ${percent(shareOf(found))}, asked for ${percent(share)}; ${found.equivalent} equivalent ones left out`;
};

const optionsOf = (args: string[]): Options | string => {
  try {
    const { values } = parseArgs({
      args,
      options: {
        count: { type: "string", default: "60" },
        seed: { type: "string", default: "1" },
        share: { type: "string", default: "0.95" },
        in: { type: "string", default: sources },
        workers: { type: "string", default: String(availableParallelism()) },
      },
    });
    const [count, seed, workers] = [Number(values.count), Number(values.seed), Number(values.workers)];
    if (!isCount(count, 1)) return `--count is ${values.count}; it must be a whole number of 1 or more`;
    if (!isCount(seed, 0)) return `--seed is ${values.seed}; it must be a whole number of 0 or more`;
    if (!isCount(workers, 1)) return `--workers is ${values.workers}; it must be a whole number of 1 or more`;
    const share = Number(values.share);
    if (!(share >= 0 && share <= 1)) return `--share is ${values.share}; it must be a number from 0 to 1`;
    const folder = relative(root, resolve(root, values.in)).replaceAll("\\", "/");
    if (!`${folder}/`.startsWith(`${sources}/`)) return `--in is ${values.in}; it must be a path in ${sources}`;
    if (!existsSync(join(root, folder))) return `--in is ${values.in}, which does not exist`;
    return { count, seed, share, folder, workers };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

const isCount = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;

await main();
