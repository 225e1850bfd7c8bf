import { leaves } from "@colloquy/runtime-test";
import { simulate, type Simulation } from "@colloquy/runtime-test/simulate";

import { answerQuestions } from "../kit/threads.ts";

/** Seeds to simulate, one after the other. */
export interface Seeds {
  readonly from: number;
  readonly count: number;
}

/** The totals of some seeds, or the first seed that failed, and its problem. */
export type Outcome = { readonly totals: Totals } | { readonly seed: number; readonly problem: string };

const simulateSeeds = async ({ from, count }: Seeds): Promise<Outcome> => {
  let totals = noTotals;
  for (let seed = from; seed < from + count; seed++) {
    try {
      totals = add(totals, totalsOf(await simulate({ seed })));
    } catch (thrown) {
      return { seed, problem: problemOf(seed, thrown) };
    }
  }
  return { totals };
};

/** Describes a failure. The message of a broken law is complete; any other error needs its stack. */
const problemOf = (seed: number, thrown: unknown): string => {
  if (!(thrown instanceof Error)) return `seed ${seed}: ${String(thrown)}`;
  return thrown.name === "SimulationError" ? thrown.message : `seed ${seed}: ${thrown.stack ?? thrown.message}`;
};

/** The totals of many simulations. Plain data, so that a worker can send it. */
export interface Totals {
  readonly runs: number;
  readonly entries: number;
  readonly steps: number;
  readonly processes: number;
  readonly faults: Counts;
  readonly transitions: Counts;
}

interface Counts {
  readonly [name: string]: number;
}

export const noTotals: Totals = { runs: 0, entries: 0, steps: 0, processes: 0, faults: {}, transitions: {} };

const totalsOf = ({ journal, counts }: Simulation): Totals => ({ runs: 1, entries: journal.length, ...counts });

export const add = (left: Totals, right: Totals): Totals => ({
  runs: left.runs + right.runs,
  entries: left.entries + right.entries,
  steps: left.steps + right.steps,
  processes: left.processes + right.processes,
  faults: addCounts(left.faults, right.faults),
  transitions: addCounts(left.transitions, right.transitions),
});

/** Formats the totals, with the count of each fault and of each event handled in each state. */
export const printed = (totals: Totals): string => {
  const { runs, entries, steps, processes } = totals;
  const faults = Object.entries(totals.faults).sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    `${runs} conversations, ${entries} journal entries, ${processes} processes, ${steps} steps into and out of a host`,
    "",
    "Faults",
    table(faults.map(([fault, count]) => [fault, String(count)])),
    "",
    "Events taken in each state",
    coverage(totals.transitions),
  ].join("\n");
};

const coverage = (transitions: Counts): string => {
  const events = [...new Set(Object.keys(transitions).map((transition) => transition.split(" ")[1] ?? ""))].sort();
  const rows = events.map((event) => [event, ...leaves.map((leaf) => String(transitions[`${leaf} ${event}`] ?? "."))]);
  return table([["", ...leaves], ...rows]);
};

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))),
  );
  return lines.map((line) => `  ${line.join("  ")}`).join("\n");
};

const addCounts = (left: Counts, right: Counts): Counts => {
  const sum: Record<string, number> = { ...left };
  for (const [name, count] of Object.entries(right)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
};

answerQuestions(simulateSeeds);
