// Lets clients ask two servers on one store, which are killed at random moments and started again. No response is empty,
// lost or endless, and the journals have each answer once.
import { whole } from "../../kit/options.ts";
import { withProgram } from "../../kit/program.ts";
import { runSeeds, sumOf } from "../../kit/seeded-runs.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { faults } from "./questions.ts";
import { serveTwice, type TwoServersRun } from "./run.ts";

const stores = ["sqlite", "postgres"] as const;

/** Serves with a program that is made for it. */
export const killServers = (
  { runs, seed, ...choice }: Choice<(typeof stores)[number], keyof typeof faults>,
  options: { readonly kills: number; readonly clients: number },
): Promise<readonly TwoServersRun[]> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(runs, seed, (each) => serveTwice(program, { ...choice, ...options }, each)),
  );

export const command = commandOf({
  name: "server",
  stores,
  faults,
  runs: [1, "how many pairs of servers, one after the other"],
  options: {
    kills: whole(20, "how often to kill a server"),
    clients: whole(6, "how many clients, each with a conversation of its own"),
  },
  run: killServers,
  totals: (runs) =>
    `${sumOf(runs, ({ kills }) => kills)} kills, ${sumOf(runs, ({ responses }) => responses)} responses, ` +
    `${sumOf(runs, ({ answers }) => answers)} answers, ${sumOf(runs, ({ again }) => again)} requests made again; a thread ` +
    `of a killed server was answered by the other after ${runs.map(({ seconds }) => seconds?.toFixed(1)).join(", ")} s.`,
});
