// Lets clients ask two servers on one store, which are killed at random moments and started again. Then checks that no
// response was empty, lost or endless, and that the journals have each answer once. Exits with 1 if a check fails.
import { runCommand } from "../kit/command.ts";
import { fault, seed, someOf, whole } from "../kit/options.ts";
import { withProgram } from "../kit/program.ts";
import { reportRuns } from "../kit/seeded-runs.ts";
import { serverUrl } from "../kit/server-urls.ts";
import { serveTwice, type TwoServersOptions, type TwoServersRun } from "./run.ts";
import { faults } from "./talk.ts";

/** Serves with a program that is made for it. */
export const twoServers = (options: TwoServersOptions, from: number): Promise<TwoServersRun> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) => serveTwice(program, options, from));

const stores = ["sqlite", "postgres"] as const;

if (import.meta.main)
  await runCommand({
    name: "two-servers",
    options: {
      store: someOf(
        stores,
        "sqlite (a file, made for it), postgres (at COLLOQUY_POSTGRES_URL); default: both, postgres where it is named",
      ),
      kills: whole(20, "how often to kill a server"),
      clients: whole(6, "how many clients, each with a conversation of its own"),
      seed: seed("what the questions, the ways and the moments of the kills follow from"),
      fault: fault(faults),
    },
    run: async ({ store: named, seed: from, ...options }, again) => {
      const isThere = (store: (typeof stores)[number]): boolean =>
        store === "sqlite" || named.length === 1 || serverUrl(store) !== null;
      for (const store of named.filter(isThere))
        await reportRuns(
          twoServers({ ...options, store }, from).then((run) => [run]),
          ([run]) =>
            `${store}: ${run?.kills} kills, ${run?.responses} responses, ${run?.answers} answers, ` +
            `${run?.again} requests made again; a thread of a killed server was answered by the other after ${run?.seconds?.toFixed(1)} s.`,
          from,
          () => again({ store, kills: options.kills, clients: options.clients, seed: from }),
        );
    },
  });
