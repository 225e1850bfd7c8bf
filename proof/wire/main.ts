// Checks every handler of the runtime against M14, the law on bytes, in conversations from a seed. If the law is
// broken, prints the conversation and how to repeat it, and exits with 1; with 2 for invalid arguments.
import type { WireFault } from "@colloquy/runtime-test/laws";
import { strictFamilies } from "@colloquy/runtime-test/server";

import { runCommand } from "../kit/command.ts";
import { flag, oneOf, seed, text, whole, workers } from "../kit/options.ts";
import { count, stopwatch } from "../kit/report.ts";
import { askThreads } from "../kit/threads.ts";
import { type Outcome, type Share, targetsOf } from "./worker.ts";

await runCommand({
  name: "wire",
  options: {
    threads: whole(20_000, "the number of conversations"),
    seed: seed("the seed of the conversations; each worker has its own: S, S + 1, …", { most: 2 ** 31 - 1_000 }),
    path: text("PATH", "only the conversation of a reported path, with its seed"),
    dialect: oneOf(["all", ...strictFamilies], "all", `only servers of this family: ${strictFamilies.join(", ")}`),
    survey: flag("list all ways in which the law is broken, not only the first"),
    workers,
  },
  run: async ({ threads, seed, path, dialect, survey, workers }, again) => {
    const seconds = stopwatch();
    const parts = path === null ? Math.min(workers, threads) : 1;
    const shares = Array.from({ length: parts }, (_, part): Share => {
      return { threads: Math.ceil((threads - part) / parts), seed: seed + part, path, dialect, survey };
    });
    const outcomes = await askThreads<Outcome>(new URL("worker.ts", import.meta.url), shares);
    const had = `${count(targetsOf(dialect).length, "target")}, ${count(threads, "thread")}, seed ${seed}, ${seconds()} s`;
    if (survey) return printFaults(merged(outcomes.flatMap(({ faults }) => faults)), had);
    for (const [part, { problem }] of outcomes.entries()) {
      if (problem === null) continue;
      console.error(
        `${problem}\n\nAll of its conversations again: ${again({ threads, seed: seed + part, workers: 1 })}\n`,
      );
      process.exitCode = 1;
    }
    const requests = outcomes.reduce((total, outcome) => total + outcome.requests, 0);
    if (process.exitCode !== 1) console.log(`The law on bytes holds for ${count(requests, "request")}: ${had}.`);
  },
});

function printFaults(faults: readonly WireFault[], had: string): void {
  for (const { target, rule, calls, words } of faults)
    console.log(`${target}: "${rule}", ${count(calls, "call")}\n  ${words.slice(0, 700).replaceAll("\n", "\n  ")}\n`);
  console.log(`${count(faults.length, "fault")}: ${had}.`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

function merged(all: readonly WireFault[]): readonly WireFault[] {
  const known = new Map<string, WireFault>();
  for (const fault of all) {
    const key = `${fault.target}\n${fault.rule}`;
    known.set(key, { ...fault, calls: fault.calls + (known.get(key)?.calls ?? 0) });
  }
  return [...known.values()].sort((one, other) => other.calls - one.calls);
}
