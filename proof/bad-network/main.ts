// Puts a network that cuts, delays and half-closes connections between stores and their server, lets users of the
// stores and hosts work over it, mends it, and checks that nothing that was acknowledged is lost or there twice, that
// no two could append at once, that every call ends, and that all of them work again. Exits with 1 when anything is
// wrong.
import { runCommand } from "../kit/command.ts";
import { fault, seed, someOf, whole } from "../kit/options.ts";
import { reportRuns, runSeeds, sumOf } from "../kit/seeded-runs.ts";
import { neededServerUrl, serverNames } from "../kit/server-urls.ts";
import { faults } from "./faults.ts";
import { type Run, run } from "./run.ts";

const totalsOf = (runs: readonly Run[]): string => {
  const fates = new Set(runs.flatMap((run) => [...run.fates.keys()]));
  const met = [...fates].map((fate) => `${sumOf(runs, (run) => run.fates.get(fate) ?? 0)} connections ${fate}`);
  return (
    `${runs.length} bad networks, ${met.join(", ")}.\n` +
    `${sumOf(runs, (run) => run.acknowledged)} writes were acknowledged, ${sumOf(runs, (run) => run.failures)} failed, ` +
    `${sumOf(runs, (run) => run.recognised)} appends were found to be there when they were tried again; ` +
    `hosts asked again ${sumOf(runs, (run) => run.again)} times.`
  );
};

await runCommand({
  name: "bad-network",
  options: {
    store: someOf(
      serverNames,
      `${serverNames.join(" or ")} (default: one after the other), at the server that COLLOQUY_POSTGRES_URL or
COLLOQUY_REDIS_URL names: \`pnpm servers pnpm bad-network\` starts both`,
    ),
    runs: whole(20, "how many networks, each bad for one to three seconds"),
    seed: seed("what becomes of the connections; run i has the seed S + i"),
    fault: fault(faults),
  },
  run: async ({ store: stores, runs, seed, fault }, again) => {
    const targets = stores.map((store) => ({ store, url: neededServerUrl(store), fault }));
    for (const target of targets)
      await reportRuns(
        runSeeds(runs, seed, (each) => run(each, target)),
        (done) => `${target.store}: ${totalsOf(done)}`,
        seed,
        (changes) => again({ ...changes, store: target.store }),
      );
  },
});
