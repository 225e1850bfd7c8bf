// Puts a network that cuts, delays and half-closes connections between stores and their server, lets users of the
// stores and hosts work over it, and mends it. Nothing that was acknowledged is lost or there twice, no two could append
// at once, every call ends, and all of them work again.
import { runSeeds, sumOf } from "../../kit/seeded-runs.ts";
import { neededServerUrl, serverNames } from "../../kit/server-urls.ts";
import { networkFaults } from "../store/faults.ts";
import { commandOf } from "../../kit/target.ts";
import { run } from "./run.ts";

const [first = "postgres", ...others] = serverNames;

export const command = commandOf({
  name: "network",
  stores: [first, ...others],
  faults: networkFaults,
  runs: [20, "how many networks, each bad for one to three seconds"],
  run: ({ store, runs, seed, fault }) =>
    runSeeds(runs, seed, (each) => run(each, { store, url: neededServerUrl(store), fault })),
  totals: (runs) => {
    const fates = new Set(runs.flatMap((run) => [...run.fates.keys()]));
    const met = [...fates].map((fate) => `${sumOf(runs, (run) => run.fates.get(fate) ?? 0)} connections ${fate}`);
    return (
      `${runs.length} bad networks, ${met.join(", ")}.\n` +
      `${sumOf(runs, ({ acknowledged }) => acknowledged)} writes were acknowledged, ` +
      `${sumOf(runs, ({ failures }) => failures)} failed; hosts asked again ${sumOf(runs, ({ again }) => again)} times.`
    );
  },
});
