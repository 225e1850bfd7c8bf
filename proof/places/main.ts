// Runs what is to run in the places that are not Node, in these: Deno, Bun, and workerd, which is killed in the middle of
// turns. `pnpm places:install` gets their programs. Exits with 1 when anything is wrong.
import { dirname } from "node:path";

import { runCommand } from "../kit/command.ts";
import { fault, seed, someOf, whole } from "../kit/options.ts";
import { count, printViolations, stopwatch } from "../kit/report.ts";
import { inBun, inDeno } from "./elsewhere.ts";
import { type PlaceName, placeProgram, placeTitle } from "./programs.ts";
import { faults } from "./worker-faults.ts";
import { type Load, loadWorker } from "./worker-load.ts";
import { platformOfWorker } from "./worker-platform.ts";
import { inWorkerd } from "./worker-revival.ts";
import { storeOfWorker } from "./worker-store.ts";

const root = dirname(dirname(import.meta.dirname));

const placeNames = ["deno", "bun", "workerd"] as const;

interface Options extends Load {
  readonly place: readonly PlaceName[];
}

const runAll = async ({ place, ...load }: Options): Promise<void> => {
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

const some = { least: 0 };

await runCommand({
  name: "places",
  options: {
    place: someOf(placeNames, `${placeNames.join(", ")} (default: all of them)`),
    threads: whole(4, "how many threads of the worker are asked at once, each an object"),
    clients: whole(2, "how many clients ask on each of them at once"),
    asks: whole(3, "how often each client asks"),
    kills: whole(3, "how often workerd is killed meanwhile", some),
    seed: seed("what is asked, who leaves and when workerd is killed follow from"),
    fault: fault(faults, "build a mistake into the worker, to see that it is noticed"),
  },
  run: runAll,
});
