// Builds every package into its `dist`: the declarations that its entry points reach, file by file, and a file of code
// for each entry point, with files that several share. `node scripts/build.ts FOLDER…` bundles only those packages.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { rolldown } from "rolldown";

import { buildPage } from "./build-page.ts";
import { manifestIn } from "./manifest.ts";
import { shipDeclarations } from "./ship-declarations.ts";

const root = dirname(import.meta.dirname);

/**
 * A package bundles its parts of these, because loading them whole costs more than loading the package. They are
 * invisible from outside: any `Either` is a plain object, and no schema leaves its package
 * (docs/decisions/0034-packages-are-bundles.md).
 */
const within: readonly string[] = ["eventsource-parser", "fp-ts", "zod/mini"];

const main = async (): Promise<void> => {
  removeStale();
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-b", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
  const named = process.argv.slice(2).map((folder) => resolve(folder));
  const all = globSync("packages/*/package.json", { cwd: root }).map((manifest) => join(root, dirname(manifest)));
  for (const folder of named.length > 0 ? named : all) await bundle(folder);
};

/** Removes the declarations of deleted sources, which another file might still name. */
const removeStale = (): void => {
  for (const declared of globSync("packages/*/.types/**/*.d.ts", { cwd: root })) {
    const source = declared.replace("/.types/", "/src/").replace(/\.d\.ts$/, ".ts");
    if (!existsSync(join(root, source))) rmSync(join(root, declared));
  }
};

const bundle = async (folder: string): Promise<void> => {
  const built = join(folder, "dist");
  // A file of an earlier build must not be packed.
  rmSync(built, { recursive: true, force: true });
  const { exports, bin } = manifestIn(folder);
  const sources = [...Object.values(exports), ...Object.values(bin)].filter(isSource);
  const bundled = await rolldown({
    input: Object.fromEntries(sources.map((path) => [nameOf(path), join(folder, path)])),
    external: (imported) => isOfAnotherPackage(imported) && !within.some((other) => imported.startsWith(other)),
    // CommonJS modules would be bundled whole.
    resolve: { alias: { "fp-ts/lib": "fp-ts/es6" } },
    platform: "neutral",
  });
  await bundled.write({
    dir: built,
    format: "es",
    sourcemap: true,
    // Comments would be parsed at each start. Readers find them in the declarations and in the sources in the maps.
    comments: { legal: true, annotation: true, jsdoc: false },
    // Chunks are side by side, so that relative paths hold in any of them.
    chunkFileNames: "[name].js",
    codeSplitting: {
      groups: within.map(packageOf).map((name) => ({ name, test: new RegExp(`/node_modules/${name}/`) })),
    },
    banner: ({ name }) => (within.map(packageOf).includes(name) ? `/*!\n${licenceOf(folder, name)}*/` : ""),
  });
  await bundled.close();
  for (const name of within.map(packageOf)) forgetMap(join(built, `${name}.js`));
  shipDeclarations(folder, Object.values(exports).filter(isSource));
  await page(folder);
};

/** Builds the files that a package only serves to browsers. */
const page = async (folder: string): Promise<void> => {
  const sources = join(folder, "src/studio/page");
  if (!existsSync(sources)) return;
  mkdirSync(join(folder, "dist/studio/page"), { recursive: true });
  for (const [name, text] of await buildPage(pathToFileURL(`${sources}/`)))
    writeFileSync(join(folder, "dist/studio/page", name), text);
};

/** Removes the map of foreign code: it names files that only we have, so users' debuggers and bundlers would warn. */
const forgetMap = (file: string): void => {
  if (!existsSync(file)) return;
  rmSync(`${file}.map`);
  writeFileSync(file, readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*\n?/m, ""));
};

const isSource = (path: string): boolean => path.endsWith(".ts");

const packageOf = (imported: string): string => imported.split("/")[0] ?? imported;

const nameOf = (source: string): string => relative("src", source).replace(/\.ts$/, "");

const isOfAnotherPackage = (imported: string): boolean => !imported.startsWith(".") && !imported.startsWith("/");

const licenceOf = (folder: string, other: string): string =>
  readFileSync(join(folder, "node_modules", other, "LICENSE"), "utf8");

await main();
