// Runs the examples of the places that are not Node: Deno twice over one file, and workerd, whose process is killed in the
// middle of a turn. `pnpm places:install` gets the programs of both. Exits with 1 when anything is wrong.
import { dirname } from "node:path";

import { runCommand } from "../kit/command.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { inDeno } from "./deno.ts";
import { placeProgram, placeTitle } from "./programs.ts";
import { inWorkerd } from "./worker-revival.ts";

const root = dirname(dirname(import.meta.dirname));

const places = { deno: inDeno, workerd: inWorkerd } as const;

const runAll = async (): Promise<void> => {
  const seconds = stopwatch();
  const violations: string[] = [];
  for (const name of ["deno", "workerd"] as const) {
    const program = placeProgram(name);
    if (program === null) violations.push(`${placeTitle(name)} is not installed: pnpm places:install`);
    else {
      const problems = await places[name](root, program);
      violations.push(...problems.map((problem) => `${placeTitle(name)}: ${problem}`));
      console.log(`${placeTitle(name)}: ${problems.length === 0 ? "holds" : count(problems.length, "problem")}`);
    }
  }
  printViolations(violations);
  console.log(`${seconds()} s`);
  process.exitCode = violations.length === 0 ? 0 : 1;
};

await runCommand({ name: "places", options: {}, run: runAll });
