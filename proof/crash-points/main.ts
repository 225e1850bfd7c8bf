// Crashes one conversation before and after each append and each effect, on each store that there is, lets another
// process go on to the end, and holds what came of it to the table of crash point by rule of recovery. Exits with 1
// when anything is otherwise. Time is virtual; the stores are real.
import { parseArgs } from "node:util";

import { crashAtPoints, type Outcome } from "./run.ts";
import { isStoreName, places, type StoreName, storeNames } from "./stores.ts";
import { table, tableInMarkdown } from "./table.ts";

const usage = `Usage: pnpm crash-points [--store NAME]... [--every N] [--again N] [--table]

  --store NAME  ${storeNames.join(", ")} (default: all; PostgreSQL and Redis where COLLOQUY_POSTGRES_URL
                and COLLOQUY_REDIS_URL say where they are)
  --every N     only every so-many-eth point
  --again N     the process after the one that died dies as well, N points later
  --table       prints the table, in Markdown, and crashes nothing`;

const main = async (): Promise<void> => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  if (options.table) {
    console.log(tableInMarkdown());
    return;
  }
  for (const store of options.stores) await crashOn(store, options);
};

const crashOn = async (store: StoreName, { every, again }: Options): Promise<void> => {
  const place = places[store]();
  if (place === null) {
    console.log(`${store}: left out, no address is given`);
    return;
  }
  const started = performance.now();
  try {
    const outcome = await crashAtPoints(place, { every, again });
    console.log(`${store}: ${inWords(outcome)}, ${((performance.now() - started) / 1000).toFixed(1)} s`);
    for (const problem of outcome.problems.slice(0, problemsShown)) console.error(`  ${problem}`);
    if (outcome.problems.length > 0) process.exitCode = 1;
  } finally {
    await place.leave();
  }
};

const problemsShown = 10;

const inWords = ({ points, crashes, entries, rows, problems }: Outcome): string => {
  const fell = table.map(({ name }) => `${name} ${rows.get(name) ?? 0}`);
  const result = problems.length === 0 ? "nothing is wrong" : `${problems.length} problems`;
  return `${crashes} crashes at ${points} points of ${entries} entries, ${result}. Outstanding then: ${fell.join(", ")}`;
};

interface Options {
  readonly stores: readonly StoreName[];
  readonly every: number;
  readonly again: number | null;
  readonly table: boolean;
}

/** What was asked for, or what is wrong with it. */
const optionsOf = (args: string[]): Options | string => {
  try {
    const { values } = parseArgs({
      args,
      options: {
        store: { type: "string", multiple: true, default: [...storeNames] },
        every: { type: "string", default: "1" },
        again: { type: "string" },
        table: { type: "boolean", default: false },
      },
    });
    const strange = values.store.find((name) => !isStoreName(name));
    if (strange !== undefined) return `--store is "${strange}"; there are: ${storeNames.join(", ")}`;
    const again = values.again === undefined ? null : Number(values.again);
    for (const [name, value] of Object.entries({ every: Number(values.every), again: again ?? 1 }))
      if (!(Number.isSafeInteger(value) && value >= 1)) return `--${name} must be a whole number of 1 or more`;
    return { stores: values.store.filter(isStoreName), every: Number(values.every), again, table: values.table };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

if (import.meta.main) await main();
