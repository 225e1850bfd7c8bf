// Has several processes write one thread at once: each asks, many at a time, and answers all asks while it has the
// lease of the thread. That process is stopped once past its lease, and then continued. No ask is lost or answered twice.
import { whole } from "../../kit/options.ts";
import { withProgram } from "../../kit/program.ts";
import { runSeeds } from "../../kit/seeded-runs.ts";
import { type Choice, commandOf } from "../../kit/target.ts";
import { type Run, type WritersOptions, writeTogether } from "./run.ts";

const stores = ["sqlite", "files", "postgres", "redis"] as const;

/** Has processes write one thread, with a program that is made for it. */
export const writers = (
  { store, runs, seed }: Pick<Choice<(typeof stores)[number], never>, "store" | "runs" | "seed">,
  options: WritersOptions,
): Promise<readonly Run[]> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(runs, seed, (each) => writeTogether(program, store, each, options)),
  );

export const command = commandOf({
  name: "writers",
  stores,
  faults: {},
  runs: [1, "how many threads, one after the other"],
  options: {
    asks: whole(1_000, "of all processes together"),
    processes: whole(4, "how many processes"),
    outstanding: whole(32, "how many asks each of them has out at a time"),
    lease: whole(1_000, "how long a lease lasts; the process that has it is stopped for twice as long", {
      placeholder: "MS",
    }),
  },
  run: (choice, { lease: leaseTtlMs, ...options }) => writers(choice, { ...options, leaseTtlMs }),
  totals: (runs) =>
    runs
      .map(({ entries, seconds, again }) => {
        const reasons = [...Map.groupBy(again, (reason) => reason)].map(
          ([reason, of]) => `\n  ${of.length} times: ${reason}`,
        );
        return `${entries} entries, ${seconds.toFixed(1)} s; ${again.length} asks were asked again.${reasons.join("")}`;
      })
      .join("\n"),
});
