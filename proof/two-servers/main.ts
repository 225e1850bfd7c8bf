// Has clients ask two servers on one store, either of which is killed at any moment and started again. Then looks whether a
// response was empty, lost or never ended, and whether the journals have each answer once. Exits with 1 when anything is wrong.
import { runCommand } from "../kit/command.ts";
import { fault, oneOf, seed, whole } from "../kit/options.ts";
import { withProgram } from "../kit/program.ts";
import { reportRuns } from "../kit/seeded-runs.ts";
import { serveTwice, type TwoServersOptions, type TwoServersRun } from "./run.ts";
import { faults } from "./talk.ts";

/** Serves with a program that is made for it. */
export const twoServers = (options: TwoServersOptions, from: number): Promise<TwoServersRun> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) => serveTwice(program, options, from));

if (import.meta.main)
  await runCommand({
    name: "two-servers",
    options: {
      store: oneOf(
        ["sqlite", "postgres"],
        "sqlite",
        "sqlite (a file, made for it) or postgres (at COLLOQUY_POSTGRES_URL); default sqlite",
      ),
      kills: whole(20, "how often to kill a server"),
      clients: whole(6, "how many clients, each with a conversation of its own"),
      seed: seed("what the questions, the ways and the moments of the kills follow from"),
      fault: fault(faults),
    },
    run: ({ seed: from, ...options }, again) =>
      reportRuns(
        twoServers(options, from).then((run) => [run]),
        ([run]) =>
          `${options.store}: ${run?.kills} kills, ${run?.responses} responses, ${run?.answers} answers, ` +
          `${run?.again} requests made again.`,
        from,
        () => again({ store: options.store, kills: options.kills, clients: options.clients, seed: from }),
      ),
  });
