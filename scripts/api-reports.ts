// Writes docs/api: for each package the declarations that its entry points reach in the build, so that a change of a
// public type shows in a file to review. `--check` fails when one of them is stale.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

import { apiReport } from "./api-report.ts";
import { writeOrCheck } from "./generated.ts";
import { manifestIn } from "./manifest.ts";

const root = dirname(import.meta.dirname);
const reports = "docs/api";

const main = (): void => {
  const there = globSync(`${reports}/*.txt`, { cwd: root }).map((path) => [path, null] as const);
  const written = globSync("packages/*", { cwd: root }).toSorted().map(reportOf);
  writeOrCheck(root, Object.fromEntries<string | null>([...there, ...written]), "pnpm api");
};

/** The report's path and its text. */
const reportOf = (folder: string): readonly [string, string] => {
  const manifest = manifestIn(join(root, folder));
  const all = Object.entries(manifest.exports).map(([path, source]) => ({
    path: posix.join(manifest.name, path),
    source,
  }));
  const entries = all
    .filter(({ source }) => source.endsWith(".ts"))
    .map(({ path, source }) => ({ path, file: declaredBy(source) }));
  const others = [
    ...all.filter(({ source }) => !source.endsWith(".ts")).map(({ path }) => `${path}: data`),
    ...Object.keys(manifest.bin).map((name) => `${name}: a command`),
  ];
  const text = apiReport(entries, (path) => {
    const file = join(root, folder, ".types", path);
    if (!existsSync(file)) throw new Error(`${file} is not there: \`pnpm build\` makes it`);
    return readFileSync(file, "utf8");
  });
  return [posix.join(reports, `${posix.basename(folder)}.txt`), [...others, text].join("\n\n")];
};

/** Returns the path of a source's declaration, in `.types`. */
const declaredBy = (source: string): string => source.replace(/^\.\/src\//, "").replace(/\.tsx?$/, ".d.ts");

main();
