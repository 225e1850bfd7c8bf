// Writes docs/api: of each package all that its entry points declare, from what `pnpm build` made, so that a change of a
// public type shows in a file to review. `--check` fails when one of them is stale.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

import { z } from "zod";

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

/** The report's name and its text: the files of declarations that the entry points lead to, without comments. */
const reportOf = (folder: string): readonly [string, string] => {
  const { name, exports } = manifestSchema.parse(JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));
  const entries = Object.entries(exports).filter(([, source]) => source.endsWith(".ts"));
  const reached = new Map<string, string>();
  for (const [, source] of entries) reach(join(root, folder, "dist"), declaredBy(source), reached);
  const doors = entries.map(([path, source]) => `${posix.join(name, path)}: ${declaredBy(source)}`);
  const files = [...reached].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const text = [doors.join("\n"), ...files.map(([path, code]) => `## ${path}\n${code}`)].join("\n\n");
  return [`${posix.basename(folder)}.txt`, `${text}\n`];
};

const manifestSchema = z.object({ name: z.string(), exports: z.record(z.string(), z.string()) });

/** Of a source, in `dist`. */
const declaredBy = (source: string): string => source.replace(/^\.\/src\//, "").replace(/\.tsx?$/, ".d.ts");

const reach = (dist: string, path: string, reached: Map<string, string>): void => {
  if (reached.has(path)) return;
  const file = join(dist, path);
  if (!existsSync(file)) throw new Error(`${file} is not there: \`pnpm build\` makes it`);
  const code = withoutComments(readFileSync(file, "utf8"));
  reached.set(path, code);
  for (const [, imported = ""] of code.matchAll(/(?:from |import\()"(\.[^"]+)"/g))
    reach(dist, posix.join(posix.dirname(path), imported).replace(/\.(tsx?|js)$/, ".d.ts"), reached);
};

/** What they say is not part of a type, and a better word is no change of one. */
const withoutComments = (code: string): string =>
  code
    .replaceAll(/("(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "$1")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");

main();
