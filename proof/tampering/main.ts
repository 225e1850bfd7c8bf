// Tampers with a thread in a store: entries, snapshots, envelopes and listings are changed, removed, swapped or taken
// from another thread. A correct host then gives the earlier state, or the one that the journal has now, or an error
// that names the thread and the entry. No process dies, and no other thread is harmed. Exits with 1 when anything is
// wrong.
import { runCommand } from "../kit/command.ts";
import { fault, seed, someOf, whole } from "../kit/options.ts";
import { reportRuns, runSeeds } from "../kit/seeded-runs.ts";
import { faults } from "./faults.ts";
import { placeNames } from "./places.ts";
import { type Run, run } from "./run.ts";

const totalsOf = (runs: readonly Run[]): string => {
  const wentOn = runs.filter((each) => each.wentOn).length;
  const kinds = [...Map.groupBy(runs, ({ damage }) => damage.kind)].map(([kind, of]) => `${kind} ${of.length}`);
  return (
    `${runs.length} threads were tampered with (${kinds.join(", ")}). ${wentOn} went on, ` +
    `${runs.length - wentOn} were refused in words.`
  );
};

await runCommand({
  name: "tampering",
  options: {
    store: someOf(
      placeNames,
      `${placeNames.join(", ")} (default: one after the other). PostgreSQL and Redis are those that
COLLOQUY_POSTGRES_URL and COLLOQUY_REDIS_URL name: \`pnpm servers pnpm tampering\` starts both`,
    ),
    runs: whole(200, "how many threads of each store to tamper with"),
    seed: seed("what is done to them; run i has the seed S + i"),
    fault: fault(faults),
  },
  run: async ({ store: stores, runs, seed, fault }, again) => {
    for (const store of stores)
      await reportRuns(
        runSeeds(runs, seed, (each) => run(each, store, fault)),
        (done) => `${store}: ${totalsOf(done)}`,
        seed,
        (changes) => again({ ...changes, store }),
      );
  },
});
