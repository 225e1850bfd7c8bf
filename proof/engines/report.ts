import { count } from "../kit/report.ts";
import { sumOf } from "../kit/seeded-runs.ts";
import { type Costs, noCosts, percentile, plus } from "./costs.ts";
import type { Run } from "./run.ts";

/** Reports the outcomes of conversations on an engine, and their costs, for a reader. */
export const totalsOf = (runs: readonly Run[]): string => {
  const sum = (of: (run: Run) => number): string => sumOf(runs, of);
  const askMs = runs.flatMap((run) => run.askMs);
  const seconds = runs.reduce((total, run) => total + run.seconds, 0);
  const costs = (of: (run: Run) => Costs): Costs => runs.map(of).reduce(plus, noCosts);
  const [server, workers] = [costs((run) => run.server), costs((run) => run.workers)];
  const byAsk = (total: number): string => (total / askMs.length).toFixed(1);
  return [
    `${count(askMs.length, "ask")} were answered once, over ${sum((run) => run.kills)} kills of workers and ` +
      `${sum((run) => run.serverKills)} of the server.`,
    `${sum((run) => run.entries)} entries are those of the host in memory, but for ` +
      `${sum((run) => run.recovered)} that stand in the place of what a crash swallowed.`,
    `An ask takes ${percentile(askMs, 0.5).toFixed(0)} ms (median) or ${percentile(askMs, 0.99).toFixed(0)} ms ` +
      `(99 of 100), ${(askMs.length / seconds).toFixed(0)} are answered in a second.`,
    `It costs ${byAsk(server.cpuMs)} ms of the processor in the server and ${byAsk(workers.cpuMs)} ms in workers, ` +
      `and ${byAsk(server.writtenBytes / 1000)} kB written by the server.`,
    `Connections by worker: ${runs.map(({ connections }) => connections.join(" + ")).join("; ")}.`,
    ...keptOf(runs),
  ].join("\n");
};

/** Reports the stored state of the engine, by key. */
const keptOf = (runs: readonly Run[]): readonly string[] => {
  const keys = new Set(runs.flatMap(({ kept }) => kept.map(({ key }) => key)));
  return [...keys].map((key) => {
    const of = runs.flatMap(({ kept }) => kept.filter((each) => each.key === key));
    const bytes = of.reduce((total, each) => total + each.bytes, 0);
    return `  ${key}: ${sumOf(of, (each) => each.count)} values, ${(bytes / 1000).toFixed(0)} kB`;
  });
};
