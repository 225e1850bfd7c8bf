// Holds every shipped policy, and compositions of them, to the laws of pruning on random conversations: one policy of
// each kind for each seed, with options that the seed draws. Exits with 1 when a law is broken, having said the seed,
// which shows it again; with 2 for arguments that are invalid.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";

import { kinds, type Outcome, type Share } from "./check-seeds.ts";

const usage = `Usage: pnpm policy-laws [--seeds N] [--seed S] [--policy KIND] [--workers W]

  --seeds N      how many seeds to check (default 100)
  --seed S       the first one; those that follow are S + 1, S + 2, … (default: drawn, and printed)
  --policy KIND  only this one: ${Object.keys(kinds).join(", ")}
  --workers W    how many threads do it (default: as many as there are processors)`;

interface Options {
  readonly seeds: number;
  readonly seed: number;
  readonly kind: string | null;
  readonly workers: number;
}

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { seeds, seed, kind, workers } = options;
  console.log(`seeds ${seed} to ${seed + seeds - 1}`);
  const started = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: workers }, (_, part) =>
      outcomeOf({ first: seed + part, count: seeds - part, step: workers, kind }),
    ),
  );
  const policies = outcomes.reduce((total, outcome) => total + outcome.policies, 0);
  const broken = outcomes.flatMap((outcome) => outcome.broken);
  for (const each of broken) {
    console.error(
      `\n${each.problem}\n\nTo see it again: pnpm policy-laws --seeds 1 --seed ${each.seed} --policy ${each.kind}`,
    );
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${policies} policies held to the laws of pruning, ${broken.length} broke one, in ${seconds} s`);
  process.exitCode = broken.length === 0 ? 0 : 1;
};

const outcomeOf = (share: Share): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: share });
    worker.once("error", reject);
    worker.once("message", resolve);
  });

const optionsOf = (args: string[]): Options | string => {
  try {
    const { values } = parseArgs({
      args,
      options: {
        seeds: { type: "string", default: "100" },
        seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
        policy: { type: "string" },
        workers: { type: "string", default: String(availableParallelism()) },
      },
    });
    const { policy: kind = null } = values;
    const [seeds, seed, workers] = [Number(values.seeds), Number(values.seed), Number(values.workers)];
    if (!isCount(seeds, 1)) return `--seeds is ${values.seeds}; it must be a whole number of 1 or more`;
    if (!isSeed(seed)) return `--seed is ${values.seed}; it must be a whole number of 32 bits`;
    if (!isCount(workers, 1)) return `--workers is ${values.workers}; it must be a whole number of 1 or more`;
    if (kind !== null && !Object.hasOwn(kinds, kind)) return `--policy is ${kind}; it must be one of those below`;
    return { seeds, seed, kind, workers: Math.min(workers, seeds) };
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
};

const isCount = (value: number, least: number): boolean => Number.isSafeInteger(value) && value >= least;

/** Numbers that fast-check takes as they are. */
const isSeed = (value: number): boolean => Number.isSafeInteger(value) && (value | 0) === value;

await main();
