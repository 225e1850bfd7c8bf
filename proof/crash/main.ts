// Crashes conversations and checks the rest. Each run holds a conversation with tools in a child process, on a SQLite
// file, kills the child with SIGKILL at moments that follow from the run's seed, starts it again until the conversation
// is done, and checks after each kill and at the end that nothing acknowledged was lost and that each tool continued as
// its rule of recovery says. Exits with 1 when anything is wrong.
import { availableParallelism } from "node:os";

import { runCommand } from "../kit/command.ts";
import { fault, seed, whole } from "../kit/options.ts";
import { withProgram } from "../kit/program.ts";
import { count } from "../kit/report.ts";
import { reportRuns, runSeeds, sumOf } from "../kit/seeded-runs.ts";
import { type Fault, faults } from "./faults.ts";
import { run, type Run } from "./run.ts";

/** Runs conversations of consecutive seeds, as many at once as there are processors. Stops early at a violation. */
export const crash = (runs: number, seed: number, fault: Fault | null): Promise<readonly Run[]> =>
  withProgram(new URL(import.meta.resolve("./child.ts")), (program) =>
    runSeeds(runs, seed, (each) => run(program, each, fault), availableParallelism()),
  );

const totalsOf = (runs: readonly Run[]): string => {
  const sum = (of: (run: Run) => number): string => sumOf(runs, of);
  const calls = runs.flatMap((run) => run.calls);
  const marked = (outcome: string): number => calls.filter((call) => call.outcome === outcome).length;
  const rerun = calls.filter(({ recovery, askedIn, answeredIn }) => recovery === "rerun" && askedIn !== answeredIn);
  const late = calls.filter(
    (call) => call.recovery === "once" && call.outcome === "completed" && call.askedIn !== call.answeredIn,
  );
  return [
    `${count(runs.length, "conversation")}, killed ${sum((run) => run.kills)} times, went on to their ends.`,
    `${sum((run) => run.acknowledged)} entries were acknowledged before a kill or an end; ${sum((run) => run.entries)} are there.`,
    `Of ${calls.length.toLocaleString("en")} tool calls a crash came upon ${rerun.length} that ran again, ` +
      `${marked("interrupted")} that were marked interrupted, ${marked("unknown")} once-only ones of unknown outcome, ` +
      `and ${late.length} once-only ones that had not started.`,
    `Of ${sum(({ summaries }) => summaries.background + summaries.awaited)} summaries, ` +
      `${sum(({ summaries }) => summaries.awaited)} of them waited for, a crash came upon ` +
      `${sum((run) => run.summariesResumed)} that were written again.`,
  ].join("\n");
};

if (import.meta.main)
  await runCommand({
    name: "crash",
    options: {
      runs: whole(200, "how many conversations to crash"),
      seed: seed("what the moments of the kills follow from; run i has the seed S + i"),
      fault: fault(faults),
    },
    run: ({ runs, seed, fault }, again) => reportRuns(crash(runs, seed, fault), totalsOf, seed, again),
  });
