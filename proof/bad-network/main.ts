// Puts a network that cuts, delays and half-closes connections between stores and their server, lets users of the
// stores and hosts work over it, mends it, and checks that nothing that was acknowledged is lost or there twice, that
// no two could append at once, that no call goes on for ever, and that all of them work again. Exits with 1 when
// anything is wrong.
import { parseArgs } from "node:util";

import { faults, isFault } from "./faults.ts";
import { type Run, run, type StoreName, storeNames, type Target } from "./run.ts";

const usage = `Usage: pnpm bad-network [--store NAME] [--runs N] [--seed S] [--fault NAME]

  --store NAME  ${storeNames.join(" or ")} (default: one after the other), at the server that COLLOQUY_POSTGRES_URL or
                COLLOQUY_REDIS_URL names: \`pnpm servers pnpm bad-network\` starts both
  --runs N      how many networks, each bad for one to three seconds (default 20)
  --seed S      what becomes of the connections; run i has the seed S + i (default: drawn)
  --fault NAME  build a mistake in, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                ${name}: ${meaning}`)
  .join("\n")}`;

const variables = { postgres: "COLLOQUY_POSTGRES_URL", redis: "COLLOQUY_REDIS_URL" } as const;

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  for (const target of options.targets) await report(options.runs, options.seed, target);
};

const report = async (runs: number, seed: number, target: Target): Promise<void> => {
  const started = performance.now();
  const done: Run[] = [];
  while (done.length < runs && done.every(({ violations }) => violations.length === 0))
    done.push(await run(seed + done.length, target));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const sum = (of: (run: Run) => number): number => done.reduce((total, each) => total + of(each), 0);
  console.log(
    `${target.store}: ${done.length} bad networks, ${fatesOf(done)}.\n` +
      `${sum((each) => each.acknowledged)} writes were acknowledged, ${sum((each) => each.failures)} failed, ` +
      `${sum((each) => each.recognised)} appends were found to be there when they were tried again; ` +
      `hosts asked again ${sum((each) => each.again)} times. Seed ${seed}, ${seconds} s.`,
  );
  const failed = done.find(({ violations }) => violations.length > 0);
  if (failed === undefined) return console.log("Nothing is wrong.");
  process.exitCode = 1;
  console.error(`Seed ${failed.seed}: ${failed.violations.length} violations.`);
  for (const violation of failed.violations.slice(0, violationsShown)) console.error(`  ${violation}`);
};

const violationsShown = 10;

const fatesOf = (runs: readonly Run[]): string => {
  const counts = new Map<string, number>();
  for (const { fates } of runs) for (const [name, count] of fates) counts.set(name, (counts.get(name) ?? 0) + count);
  return [...counts].map(([name, count]) => `${count} connections ${name}`).join(", ");
};

interface Options {
  readonly targets: readonly Target[];
  readonly runs: number;
  readonly seed: number;
}

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const string = { type: "string" } as const;
    const names = { store: string, runs: string, seed: string, fault: string };
    const { values } = parseArgs({ args: [...given], options: names });
    const { store, runs = "20", seed = String(Math.floor(Math.random() * 1_000_000)), fault } = values;
    if (store !== undefined && !isStoreName(store)) return `there is no store "${store}"`;
    if (!/^[1-9]\d{0,3}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,8}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && !isFault(fault)) return `there is no fault "${fault}"`;
    const targets = (store === undefined ? storeNames : [store]).map((name) => targetOf(name, fault ?? null));
    const missing = targets.find((target) => typeof target === "string");
    if (missing !== undefined) return missing;
    // None of them is a text.
    return { targets: targets as readonly Target[], runs: Number(runs), seed: Number(seed) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const isStoreName = (name: string): name is StoreName => storeNames.some((each) => each === name);

const targetOf = (store: StoreName, fault: Target["fault"]): Target | string => {
  const url = process.env[variables[store]] ?? "";
  return url === "" ? `${variables[store]} names no server` : { store, url, fault };
};

await main();
