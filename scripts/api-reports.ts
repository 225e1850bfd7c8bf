// Writes docs/api: of each package what its entry points lead to, from what `pnpm build` made, so that a change of a
// public type shows in a file to review. `--check` fails when one of them is stale.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

import { z } from "zod";

import { apiReport } from "./api-report.ts";

const root = dirname(import.meta.dirname);
const reports = join(root, "docs/api");

const main = (): void => {
  const written = new Map(globSync("packages/*", { cwd: root }).toSorted().map(reportOf));
  const there = existsSync(reports) ? globSync("*.txt", { cwd: reports }) : [];
  if (!process.argv.includes("--check")) {
    rmSync(reports, { recursive: true, force: true });
    mkdirSync(reports, { recursive: true });
    for (const [name, text] of written) writeFileSync(join(reports, name), text);
    console.log(`docs/api is written: ${written.size} packages`);
    return;
  }
  const names = new Set([...there, ...written.keys()]);
  const stale = [...names].filter((name) => !there.includes(name) || textOf(name) !== written.get(name));
  for (const name of stale)
    console.error(
      `docs/api/${name} is stale: public types have changed. Run \`pnpm api\`, look at the difference, and commit it`,
    );
  process.exitCode = stale.length > 0 ? 1 : 0;
  if (stale.length === 0) console.log(`docs/api is up to date: ${written.size} packages`);
};

const textOf = (name: string): string => readFileSync(join(reports, name), "utf8");

/** The report's name and its text. */
const reportOf = (folder: string): readonly [string, string] => {
  const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));
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
  return [`${posix.basename(folder)}.txt`, [...others, text].join("\n\n")];
};

const manifestSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()),
  bin: z.record(z.string(), z.string()).default({}),
});

/** Of a source, in `.types`. */
const declaredBy = (source: string): string => source.replace(/^\.\/src\//, "").replace(/\.tsx?$/, ".d.ts");

main();
