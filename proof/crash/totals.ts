import type { Run } from "./run.ts";

/** What many runs came to, in a few lines. */
export const totalsOf = (runs: readonly Run[]): string => {
  const sum = (of: (run: Run) => number): string =>
    runs.reduce((total, run) => total + of(run), 0).toLocaleString("en");
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

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
