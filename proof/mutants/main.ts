// Builds small faults into packages, one at a time and only in memory, and runs the package's own tests against each.
// Prints those that no test notices. Exits with 1 if fewer than the required share are noticed, with 2 for invalid
// arguments.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";

import { runCommand } from "../kit/command.ts";
import { type Option, someOf, whole, workers } from "../kit/options.ts";
import { stopwatch } from "../kit/report.ts";
import { equivalent } from "./equivalent.ts";
import { hunt, type Hunt, type Sample } from "./hunt.ts";
import type { Mutant } from "./mutations.ts";

const root = join(import.meta.dirname, "../..");

interface Covered {
  /** The share of its mutants that its own tests must notice. */
  readonly share: number;
  /** A folder whose mutants are left out, since these tests don't run it. */
  readonly without?: string;
}

/** The packages by name. The machine has the policies of pruning. */
const covered = {
  machine: { share: 0.95 },
  host: { share: 0.9 },
  interchange: { share: 0.9 },
  sessions: { share: 0.9 },
  // Its page runs in a browser, as the long tests do.
  server: { share: 0.9, without: "packages/server/src/studio/page" },
  "runtime-node": { share: 0.9 },
} as const satisfies Readonly<Record<string, Covered>>;
type Package = keyof typeof covered;
// The keys of the object above.
const packages = Object.keys(covered) as Package[];

/** The most of a sample that may be listed as equivalent. */
const equivalentMax = 0.03;

const sourcesOf = (name: Package): string => `packages/${name}/src`;

const share: Option<number | null> = {
  kind: "value",
  placeholder: "P",
  about: `the share of them that the tests must notice, from 0 to 1 (default ${covered.host.share}; ${covered.machine.share} of the machine's)`,
  read: (given) => {
    if (given.length === 0) return null;
    const share = Number(given.at(-1));
    if (share >= 0 && share <= 1) return share;
    throw new RangeError(`--share is "${given.at(-1)}"; give a number from 0 to 1`);
  },
};

/** A package, and the folder or file in it whose mutants are drawn. */
interface Place {
  readonly name: Package;
  readonly folder: string;
}

const folder: Option<Place | null> = {
  kind: "value",
  placeholder: "FOLDER",
  about: "only mutants of this folder or file of a package, such as packages/machine/src/prompt/policies",
  read: (given) => {
    const path = given.at(-1);
    if (path === undefined) return null;
    const folder = relative(root, resolve(root, path)).replaceAll("\\", "/");
    const name = packages.find((each) => `${folder}/`.startsWith(`${sourcesOf(each)}/`));
    if (name === undefined) {
      throw new RangeError(`--in is "${path}"; give a path in packages/NAME/src, NAME one of ${packages.join(", ")}`);
    }
    if (!existsSync(join(root, folder))) throw new RangeError(`--in is "${path}", which does not exist`);
    return { name, folder };
  },
};

const drawnFrom: Option<readonly Package[]> = {
  ...someOf(packages, "a package whose mutants are drawn (default machine); `all` for each"),
  read: (given, name) => {
    if (given.includes("all")) return packages;
    return given.length === 0 ? ["machine"] : someOf(packages, "").read(given, name);
  },
};

/** Returns the first seven digits of the commit's name as a number. */
const seedOfCommit = (): number =>
  Number.parseInt(execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).slice(0, 7), 16);

const totalOf = ({ killed, survivors, equivalent }: Hunt): number => killed + survivors.length + equivalent;

const printed = ({ path, line, original, mutated }: Mutant): string =>
  `alive: ${path}:${line}\n  - ${original}\n  + ${mutated === "" ? "(removed)" : mutated}`;

const summary = (found: Hunt, seed: number, share: number, place: Place): string => {
  const { mutants, killed, timeouts, survivors, equivalent } = found;
  const total = totalOf(found);
  const without = withoutOf(place);
  const where = `${place.folder}${without === null ? "" : `, without ${without}`}`;
  const percent = (of: number): string => `${(of * 100).toFixed(1)} %`;
  return `${total} of ${mutants.toLocaleString("en")} mutants of ${where}, seed ${seed}: ${killed} killed (${timeouts} of them never ended), ${survivors.length} alive, ${equivalent} equivalent; killed ${percent(killed / total)} of all, asked for ${percent(share)}`;
};

/** Returns the folder that is left out of a place, if any. */
const withoutOf = ({ name }: Place): string | null => {
  const { without }: Covered = covered[name];
  return without ?? null;
};

const subjectOf = ({ name, folder }: Place): Parameters<typeof hunt>[0] => ({
  root,
  source: sourcesOf(name),
  mutated: folder,
  without: withoutOf({ name, folder }),
  tests: `packages/${name}/test/**/!(*.long).test.ts`,
  sources: ["packages/*/{src,test}/**/*.ts", "packages/*/package.json", "{proof,test,examples}/**/*.ts"],
  equivalent,
  // The slowest of the tests takes less than half of this.
  secondsWithoutProgressMax: 15,
});

/** Prints what a hunt found. Returns whether enough was killed, and nothing is wrong. */
const report = async (place: Place, share: number, sample: Sample): Promise<boolean> => {
  const seconds = stopwatch();
  let tried = 0;
  const found = await hunt(subjectOf(place), sample, (outcome, mutant) => {
    if (outcome === "survived") console.log(printed(mutant));
    if (++tried % 20 === 0) console.error(`${tried} of ${sample.count}, after ${seconds()} s`);
  });
  console.log(`\n${summary(found, sample.seed, share, place)}, in ${seconds()} s`);
  for (const { path, original, mutated } of found.stale) {
    console.error(
      `stale in the lists of equivalent mutants in proof/mutants, remove it: ${path}\n  - ${original}\n  + ${mutated}`,
    );
  }
  for (const problem of found.problems) console.error(problem);
  const total = totalOf(found);
  const tooMany = found.equivalent > Math.ceil(total * equivalentMax);
  if (tooMany) console.error(`more than ${equivalentMax * 100} % are listed as equivalent`);
  return found.killed / total >= share && !tooMany && found.stale.length === 0 && found.problems.length === 0;
};

await runCommand({
  name: "mutants",
  options: {
    count: whole(60, "the number of mutants to draw of each package"),
    seed: whole(null, "the seed of the draw (default: the commit's); a changed line changes only its own mutants", {
      least: 0,
      placeholder: "S",
    }),
    share,
    package: drawnFrom,
    in: folder,
    workers,
  },
  run: async ({ count, seed, share, package: names, in: place, workers }) => {
    const sample = { count, seed: seed ?? seedOfCommit(), workers };
    const places = place === null ? names.map((name) => ({ name, folder: sourcesOf(name) })) : [place];
    process.exitCode = 0;
    for (const each of places) {
      if (!(await report(each, share ?? covered[each.name].share, sample))) process.exitCode = 1;
    }
  },
});
