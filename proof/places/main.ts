// Runs trials in places other than Node: Deno, Bun, and workerd, which is killed in the middle of turns. `pnpm
// places:install` installs the programs. Exits with 1 if anything is wrong.
import { dirname } from "node:path";

import { runCommand } from "../kit/command.ts";
import { someOf } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { inBun, inDeno } from "./elsewhere.ts";
import { type PlaceName, placeProgram, placeTitle } from "./programs.ts";
import { type Load, loadOptions, loadWorker } from "./worker-load.ts";
import { platformOfWorker } from "./worker-platform.ts";
import { inWorkerd } from "./worker-revival.ts";
import { storeOfWorker } from "./worker-store.ts";

const root = dirname(dirname(import.meta.dirname));

const placeNames = ["deno", "bun", "workerd"] as const;

const runAll = async ({ place, ...load }: Load & { readonly place: readonly PlaceName[] }): Promise<void> => {
  const seconds = stopwatch();
  const places: Readonly<Record<PlaceName, (program: string) => Promise<readonly string[]>>> = {
    deno: (program) => inDeno(root, program),
    bun: (program) => inBun(root, program),
    workerd: (program) => inWorkers(program, load),
  };
  const violations: string[] = [];
  await Promise.all(
    place.map(async (name) => {
      const program = placeProgram(name);
      const problems = program === null ? ["it is not installed: pnpm places:install"] : await places[name](program);
      violations.push(...problems.map((problem) => `${placeTitle(name)}: ${problem}`));
      console.log(`${placeTitle(name)}: ${problems.length === 0 ? "holds" : count(problems.length, "problem")}`);
    }),
  );
  printViolations(violations);
  console.log(`${seconds()} s`);
};

const inWorkers = async (program: string, load: Load): Promise<readonly string[]> => {
  const { violations, asked, calls, killed } = await loadWorker(root, program, load);
  console.log(
    `workerd was killed ${count(killed, "time")} under ${count(asked, "question")} on ${count(load.threads, "thread")}, ` +
      `for which the model was called ${count(calls, "time")}. Seed ${load.seed}.`,
  );
  return [
    ...violations,
    ...(await inWorkerd(root, program, load.fault)),
    ...(await storeOfWorker(root, program, load.fault)),
    ...(await platformOfWorker(root, program)),
  ];
};

await runCommand({
  name: "places",
  options: {
    place: someOf(placeNames, `${placeNames.join(", ")} (default: all of them)`),
    ...loadOptions,
  },
  run: runAll,
});
