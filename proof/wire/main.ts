// Holds every handler of the runtime to M14, the law on bytes, in conversations that a seed draws. Exits with 1 when the
// law is broken, having printed the conversation and how to see it again; with 2 for arguments that are invalid.
import type { WireFault } from "@colloquy/runtime-test/laws";
import { strictFamilies } from "@colloquy/runtime-test/server";

import { runCommand } from "../kit/command.ts";
import { flag, oneOf, seed, text, whole, workers } from "../kit/options.ts";
import { count, stopwatch } from "../kit/report.ts";
import { askThreads } from "../kit/threads.ts";
import { type Outcome, type Share, targetsOf } from "./check-share.ts";

await runCommand({
  name: "wire",
  options: {
    threads: whole(20_000, "how many conversations to have"),
    seed: seed("what they are drawn from; each worker has a seed of its own: S, S + 1, …", { most: 2 ** 31 - 1_000 }),
    path: text("PATH", "only the conversation that was reported with its seed"),
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

/** The same fault of several workers is one. */
function merged(all: readonly WireFault[]): readonly WireFault[] {
  const known = new Map<string, WireFault>();
  for (const fault of all) {
    const key = `${fault.target}\n${fault.rule}`;
    known.set(key, { ...fault, calls: fault.calls + (known.get(key)?.calls ?? 0) });
  }
  return [...known.values()].sort((one, other) => other.calls - one.calls);
}
