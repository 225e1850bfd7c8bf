// Tampers with what stores keep of a thread: entries, snapshots, letters and listings, changed, removed, swapped or
// taken from another thread. What is right is then either what it was, or what the journal says now, or an error that
// names the thread and the entry; no process dies, and no other thread is harmed. Exits with 1 when anything is wrong.
import { parseArgs } from "node:util";

import { faults, isFault } from "./faults.ts";
import { type PlaceName, placeNames } from "./places.ts";
import { type Run, run } from "./run.ts";

const usage = `Usage: pnpm tampering [--store NAME] [--runs N] [--seed S] [--fault NAME]

  --store NAME  ${placeNames.join(", ")} (default: one after the other). PostgreSQL and Redis are those that
                COLLOQUY_POSTGRES_URL and COLLOQUY_REDIS_URL name: \`pnpm servers pnpm tampering\` starts both
  --runs N      how many threads of each store to tamper with (default 200)
  --seed S      what is done to them; run i has the seed S + i (default: drawn)
  --fault NAME  build a mistake in, to see that it is noticed:
${Object.entries(faults)
  .map(([name, meaning]) => `                ${name}: ${meaning}`)
  .join("\n")}`;

type Options = Readonly<Record<"runs" | "seed", number>> & {
  readonly stores: readonly PlaceName[];
  readonly fault: keyof typeof faults | null;
};

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  for (const store of options.stores) await report(store, options);
};

const report = async (store: PlaceName, { runs, seed, fault }: Options): Promise<void> => {
  const started = performance.now();
  const done: Run[] = [];
  while (done.length < runs && done.every(({ violations }) => violations.length === 0))
    done.push(await run(seed + done.length, store, fault));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const wentOn = done.filter((each) => each.wentOn).length;
  console.log(
    `${store}: ${done.length} threads were tampered with (${kindsOf(done)}). ${wentOn} went on, ` +
      `${done.length - wentOn} were refused in words. Seed ${seed}, ${seconds} s.`,
  );
  const failed = done.find(({ violations }) => violations.length > 0);
  if (failed === undefined) return console.log("Nothing is wrong.");
  process.exitCode = 1;
  console.error(`Seed ${failed.seed}: ${failed.damage.words}`);
  for (const violation of failed.violations) console.error(`  ${violation}`);
};

const kindsOf = (runs: readonly Run[]): string =>
  [...Map.groupBy(runs, ({ damage }) => damage.kind)].map(([kind, of]) => `${kind} ${of.length}`).join(", ");

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const string = { type: "string" } as const;
    const names = { store: string, runs: string, seed: string, fault: string };
    const { values } = parseArgs({ args: [...given], options: names });
    const { store, runs = "200", seed = String(Math.floor(Math.random() * 1_000_000)), fault } = values;
    const stores = store === undefined ? placeNames : placeNames.filter((name) => name === store);
    if (stores.length === 0) return `there is no store "${store}"`;
    if (!/^[1-9]\d{0,4}$/.test(runs)) return `--runs is "${runs}"; give a whole number of 1 or more`;
    if (!/^\d{1,8}$/.test(seed)) return `--seed is "${seed}"; give a whole number of 0 or more`;
    if (fault !== undefined && !isFault(fault)) return `there is no fault "${fault}"`;
    return { stores, runs: Number(runs), seed: Number(seed), fault: fault ?? null };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

await main();
