// Crashes one conversation before and after each append and each effect, on each available store, and lets another
// process continue to the end. Checks the outcome by the table of crash point by rule of recovery. Exits with 1 when
// anything differs. Time is virtual; the stores are real.
import { runCommand } from "../kit/command.ts";
import { flag, someOf, whole } from "../kit/options.ts";
import { printViolations, stopwatch } from "../kit/report.ts";
import { crashAtPoints, type Outcome, type PointOptions } from "./run.ts";
import { placeOf, type StoreName, storeNames } from "./stores.ts";
import { table, tableInMarkdown } from "./table.ts";

const crashOn = async (store: StoreName, points: PointOptions): Promise<void> => {
  const place = placeOf(store);
  if (place === null) return console.log(`${store}: left out, no address is given`);
  const seconds = stopwatch();
  try {
    const outcome = await crashAtPoints(place, points);
    console.log(`${store}: ${inWords(outcome)}, ${seconds()} s`);
    printViolations(outcome.problems);
  } finally {
    await place.leave();
  }
};

const inWords = ({ points, crashes, entries, rows, problems }: Outcome): string => {
  const fell = table.map(({ name }) => `${name} ${rows.get(name) ?? 0}`);
  const result = problems.length === 0 ? "nothing is wrong" : `${problems.length} problems`;
  return `${crashes} crashes at ${points} points of ${entries} entries, ${result}. Outstanding then: ${fell.join(", ")}`;
};

await runCommand({
  name: "crash-points",
  options: {
    store: someOf(
      storeNames,
      `${storeNames.join(", ")} (default: all; PostgreSQL and Redis where COLLOQUY_POSTGRES_URL
and COLLOQUY_REDIS_URL say where they are)`,
    ),
    every: whole(1, "only every Nth point"),
    again: whole(null, "the process after the one that died dies as well, N points later"),
    table: flag("prints the table, in Markdown, and crashes nothing"),
  },
  run: async ({ store: stores, table, ...points }) => {
    if (table) return console.log(tableInMarkdown());
    for (const store of stores) await crashOn(store, points);
  },
});
