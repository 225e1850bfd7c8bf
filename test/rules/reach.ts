import { posix } from "node:path";

import { isExample } from "../../scripts/examples.ts";
import { isModule, type Rule } from "./source.ts";
import { packagesOf, reachableFrom } from "./workspace.ts";

/** Every source of a package is reachable from an export, a program or a page of the package. */
export const sourcesAreReached: Rule = (sources) => {
  const packages = packagesOf(sources);
  const reached = reachableFrom(
    packages.flatMap(({ folder, entries }) => [...Object.values(entries), `${folder}/src/studio/page/page.ts`]),
    sources,
  );
  return sources
    .filter((source) => isModule(source) && packages.some(({ folder }) => source.path.startsWith(`${folder}/src/`)))
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => `${path}: no entry point of its package leads to it: export it or remove it`);
};

/** Every example is run by the examples' script, or by a test, script or proof that names it. */
export const examplesAreRun: Rule = (sources) => {
  const runners = sources.filter(({ path }) => path.endsWith(".test.ts") || /^(?:scripts|proof)\//.test(path));
  const run = sources.filter(
    ({ path }) =>
      path.startsWith("examples/") &&
      (isExample(path) || path.endsWith(".test.ts") || runners.some(({ text }) => text.includes(nameOf(path)))),
  );
  const reached = reachableFrom(
    run.map(({ path }) => path),
    sources,
  );
  return sources
    .filter((source) => isModule(source) && source.path.startsWith("examples/") && !reached.has(source.path))
    .map(({ path }) => `${path}: nothing runs it: call it main.ts in a folder of its own, or name it in a test`);
};

const nameOf = (path: string): string => `examples/${posix.relative("examples", path)}`;
