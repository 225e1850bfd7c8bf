// Builds every package into its `dist`: the declarations file by file, and what runs as one file for each entry point, with
// the files that several of them share. `node scripts/build.ts FOLDER…` bundles those packages alone.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

import { rolldown } from "rolldown";
import { z } from "zod";

const root = dirname(import.meta.dirname);

/**
 * What a package has within it of another, because loading that whole costs more than loading the package: of zod's 95
 * files, which are 80 ms, the schemas of the journal need a sixth. Nothing of it is seen from outside.
 */
const within: Readonly<Record<string, readonly string[]>> = {
  "@colloquy/machine": ["zod"],
  "@colloquy/interchange": ["zod"],
};

const main = async (): Promise<void> => {
  removeStale();
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-b", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  const named = process.argv.slice(2).map((folder) => resolve(folder));
  const all = globSync("packages/*/package.json", { cwd: root }).map((manifest) => join(root, dirname(manifest)));
  for (const folder of named.length > 0 ? named : all) await bundle(folder);
};

/** What was declared by a source that is gone must not be packed. */
const removeStale = (): void => {
  for (const declared of globSync("packages/*/dist/**/*.d.ts", { cwd: root })) {
    const source = declared.replace("/dist/", "/src/").replace(/\.d\.ts$/, ".ts");
    if (existsSync(join(root, source))) continue;
    rmSync(join(root, declared));
    rmSync(join(root, `${declared}.map`), { force: true });
  }
};

const bundle = async (folder: string): Promise<void> => {
  const built = join(folder, "dist");
  const { name, exports, bin } = manifestSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const sources = [...Object.values(exports), ...Object.values(bin)].filter((path) => path.endsWith(".ts"));
  const others = within[name] ?? [];
  const bundled = await rolldown({
    input: Object.fromEntries(sources.map((path) => [nameOf(path), join(folder, path)])),
    external: (imported) => isOfAnotherPackage(imported) && !others.includes(imported),
    platform: "neutral",
  });
  for (const file of globSync("**/*.js{,.map}", { cwd: built })) rmSync(join(built, file));
  await bundled.write({
    dir: built,
    format: "es",
    sourcemap: true,
    sourcemapExcludeSources: true,
    // What nobody reads here is not parsed at each start: sources and declarations have it.
    comments: { legal: true, annotation: true, jsdoc: false },
    // Beside each other, so that a path from one of them holds wherever its source went.
    chunkFileNames: "[name].js",
    codeSplitting: { groups: others.map((other) => ({ name: other, test: new RegExp(`/node_modules/${other}/`) })) },
    banner: (chunk) => (others.includes(chunk.name) ? `/*!\n${licenceOf(folder, chunk.name)}*/` : ""),
  });
  await bundled.close();
};

const manifestSchema = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()),
  bin: z.record(z.string(), z.string()).default({}),
});

const nameOf = (source: string): string => relative("src", source).replace(/\.ts$/, "");

const isOfAnotherPackage = (imported: string): boolean => !imported.startsWith(".") && !imported.startsWith("/");

const licenceOf = (folder: string, other: string): string =>
  readFileSync(join(folder, "node_modules", other, "LICENSE"), "utf8");

await main();
