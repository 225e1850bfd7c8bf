import { readFileSync } from "node:fs";
import { join } from "node:path";

import { type Mutant, mutantsOf } from "../mutants/mutations.ts";
import { Runner } from "../mutants/test-runner.ts";
import type { Fault } from "./fault-list.ts";
import { root } from "./files.ts";

/** Builds faults into the machine in memory, one by one. Returns those that no vector catches. */
export const uncaughtFaults = async (built: readonly Fault[]): Promise<readonly string[]> => {
  const runners = Array.from({ length: Math.min(workersMax, built.length) }, () => newRunner());
  const problems: string[] = [];
  const [first] = runners;
  // Vectors that fail without a fault would catch all faults.
  const plain = await first?.run({ mutant: null, tests: [check] });
  if (plain?.outcome !== "survived") problems.push(`without a fault the vectors are ${plain?.outcome}`);
  const waiting = problems.length > 0 ? [] : [...built];
  const work = async (runner: Runner): Promise<void> => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const [path, original] = fault;
      const mutant = mutantNamed(fault);
      const outcome = mutant === undefined ? "not there" : (await runner.run({ mutant, tests: [check] })).outcome;
      if (outcome !== "killed" && outcome !== "timeout") problems.push(`${path}: ${original}: the fault is ${outcome}`);
    }
  };
  await Promise.all(runners.map(work));
  for (const runner of runners) runner.close();
  return problems;
};

const sources = "packages/machine/src";
const check = "packages/machine/test/vectors.test.ts";
const workersMax = 2;

const newRunner = (): Runner => new Runner({ root, source: sources, tests: check, secondsWithoutProgressMax: 15 });

const mutantNamed = ([path, original, mutated]: Fault): Mutant | undefined => {
  const source = { path: `${sources}/${path}`, text: readFileSync(join(root, sources, path), "utf8") };
  return mutantsOf(source).find((mutant) => mutant.original === original && mutant.mutated === mutated);
};
