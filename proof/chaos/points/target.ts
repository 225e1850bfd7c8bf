// Crashes the story before and after each append and each effect, and lets another process continue to the end. Checks
// the outcome by the table of crash point by rule of recovery. Time is virtual; the stores are real.
import { flag, whole } from "../../kit/options.ts";
import type { SeededRun } from "../../kit/seeded-runs.ts";
import { commandOf } from "../../kit/target.ts";
import { placeOf, storeNames } from "./places.ts";
import { crashAtPoints, type Outcome } from "./run.ts";
import { table, tableInMarkdown } from "../story/table.ts";

type Run = SeededRun & Outcome;

export const command = commandOf({
  name: "points",
  stores: storeNames,
  faults: {},
  runs: [1, "how often to crash at all points"],
  options: {
    every: whole(1, "only every Nth point"),
    again: whole(null, "the process after the one that died dies as well, N points later"),
    table: flag("prints the table, in Markdown, and crashes nothing"),
  },
  run: async ({ store, runs, seed }, { table: isShown, ...points }): Promise<readonly Run[]> => {
    if (isShown) console.log(tableInMarkdown());
    const place = placeOf(store);
    const done: Run[] = [];
    try {
      for (
        let run = 0;
        run < (isShown ? 0 : runs) && done.every(({ violations }) => violations.length === 0);
        run += 1
      ) {
        const outcome = await crashAtPoints(place, points);
        done.push({ ...outcome, seed, violations: outcome.problems });
      }
      return done;
    } finally {
      await place.leave();
    }
  },
  totals: (runs) =>
    runs
      .map(({ crashes, points, entries, rows }) => {
        const fell = table.map(({ name }) => `${name} ${rows.get(name) ?? 0}`);
        return `${crashes} crashes at ${points} points of ${entries} entries. Outstanding then: ${fell.join(", ")}`;
      })
      .join("\n"),
});
