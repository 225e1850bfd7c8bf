// Tampers with a thread in a store: entries, snapshots, inbox items and listings are changed, removed, swapped or taken
// from another thread. A host then has the earlier state, or the one that the journal has now, or an error that names
// the thread and the entry. No process dies, and no other thread is harmed.
import { runSeeds } from "../../kit/seeded-runs.ts";
import { commandOf } from "../../kit/target.ts";
import { faults } from "./faults.ts";
import { run } from "./run.ts";

export const command = commandOf({
  name: "rows",
  stores: ["sqlite", "files", "postgres", "redis"],
  faults,
  runs: [200, "how many threads of each store to tamper with"],
  run: ({ store, runs, seed, fault }) => runSeeds(runs, seed, (each) => run(each, store, fault)),
  totals: (runs) => {
    const continued = runs.filter(({ wentOn }) => wentOn).length;
    const kinds = [...Map.groupBy(runs, ({ damage }) => damage.kind)].map(([kind, of]) => `${kind} ${of.length}`);
    return (
      `${runs.length} threads were tampered with (${kinds.join(", ")}). ${continued} went on, ` +
      `${runs.length - continued} were refused in words.`
    );
  },
});
