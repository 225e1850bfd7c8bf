// Builds small faults into the machine, one at a time and only in memory, and runs the machine's own tests against
// each. Prints those that no test notices. Exits with 1 if fewer than the required share are noticed, with 2 for
// invalid arguments.
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";

import { runCommand } from "../kit/command.ts";
import { type Option, whole, workers } from "../kit/options.ts";
import { stopwatch } from "../kit/report.ts";
import { equivalent } from "./equivalent.ts";
import { hunt, type Hunt } from "./hunt.ts";
import type { Mutant } from "./mutations.ts";

const root = join(import.meta.dirname, "../..");
const sources = "packages/machine/src";

const share: Option<number> = {
  kind: "value",
  placeholder: "P",
  about: "the share of them that the tests must notice, from 0 to 1 (default 0.95)",
  read: (given) => {
    const share = Number(given.at(-1) ?? 0.95);
    if (share >= 0 && share <= 1) return share;
    throw new RangeError(`--share is "${given.at(-1)}"; give a number from 0 to 1`);
  },
};

const folder: Option<string> = {
  kind: "value",
  placeholder: "FOLDER",
  about: `only mutants of this folder or file of ${sources}`,
  read: (given) => {
    const path = given.at(-1) ?? sources;
    const folder = relative(root, resolve(root, path)).replaceAll("\\", "/");
    if (!`${folder}/`.startsWith(`${sources}/`)) throw new RangeError(`--in is "${path}"; give a path in ${sources}`);
    if (!existsSync(join(root, folder))) throw new RangeError(`--in is "${path}", which does not exist`);
    return folder;
  },
};

const shareOf = ({ killed, survivors }: Hunt): number => killed / (killed + survivors.length);

const printed = ({ path, line, original, mutated }: Mutant): string =>
  `alive: ${path}:${line}\n  - ${original}\n  + ${mutated === "" ? "(removed)" : mutated}`;

const summary = (found: Hunt, seed: number, share: number, folder: string): string => {
  const total = found.killed + found.survivors.length;
  const percent = (of: number): string => `${(of * 100).toFixed(1)} %`;
  return `${total} of ${found.mutants.toLocaleString("en")} mutants of ${folder}, seed ${seed}: ${found.killed} killed (${found.timeouts} of them never ended), ${found.survivors.length} alive: ${percent(shareOf(found))}, asked for ${percent(share)}; ${found.equivalent} equivalent ones left out`;
};

await runCommand({
  name: "mutants",
  options: {
    count: whole(60, "the number of mutants to draw"),
    seed: whole(1, "the seed of the draw; a changed line changes only its own mutants", {
      least: 0,
      placeholder: "S",
    }),
    share,
    in: folder,
    workers,
  },
  run: async ({ count, seed, share, in: folder, workers }) => {
    const seconds = stopwatch();
    const subject = {
      root,
      source: sources,
      mutated: folder,
      tests: "packages/machine/test/**/*.test.ts",
      sources: ["packages/*/{src,test}/**/*.ts", "packages/*/package.json", "proof/vectors/**/*.ts"],
      equivalent,
      // The slowest of the machine's tests takes less than half of this.
      secondsWithoutProgressMax: 15,
    };
    let tried = 0;
    const found = await hunt(subject, { count, seed, workers }, (outcome, mutant) => {
      if (outcome === "survived") console.log(printed(mutant));
      if (++tried % 20 === 0) console.error(`${tried} of ${count}, after ${seconds()} s`);
    });
    console.log(`\n${summary(found, seed, share, folder)}, in ${seconds()} s`);
    for (const { path, original, mutated } of found.stale) {
      console.error(`stale in proof/mutants/equivalent.ts, remove it: ${path}\n  - ${original}\n  + ${mutated}`);
    }
    for (const problem of found.problems) console.error(problem);
    const passed = shareOf(found) >= share && found.stale.length === 0 && found.problems.length === 0;
    process.exitCode = passed ? 0 : 1;
  },
});
