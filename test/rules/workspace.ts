import { posix } from "node:path";

import { z } from "zod";

import { importsOf, type Import, isModule, type Source } from "./source.ts";

/** A package of the workspace, as its manifest describes it. */
export interface Package {
  /** Its folder, from the root: `packages/machine`. */
  readonly folder: string;
  readonly name: string;
  /** The files of subpaths (`.`, `./laws`). */
  readonly entries: Readonly<Record<string, string>>;
}

/** An import with its target in the workspace; undefined for a target outside. */
export interface Link extends Import {
  readonly target: string | undefined;
}

/** Returns the packages whose manifests are among the sources. */
export const packagesOf = (sources: readonly Source[]): readonly Package[] =>
  sources
    .filter(({ path }) => path.endsWith("/package.json"))
    .map(({ path, text }) => {
      const folder = posix.dirname(path);
      const { name, exports, bin } = manifest.parse(JSON.parse(text));
      const entries = Object.entries({ ...exports, ...bin }).map(([subpath, file]): [string, string] => [
        subpath,
        posix.join(folder, file),
      ]);
      return { folder, name, entries: Object.fromEntries(entries) };
    });

/** Returns the package of a path. */
export const packageAt = (packages: readonly Package[], path: string): Package | undefined =>
  packages.find(({ folder }) => path.startsWith(`${folder}/`));

/** Returns the imports of a module with their targets. */
export const linksOf = (source: Source, packages: readonly Package[]): readonly Link[] =>
  importsOf(source).map((each) => ({ ...each, target: targetOf(source.path, each.specifier, packages) }));

/** Returns the modules among the sources that imports reach from the given ones, which are included. */
export const reachableFrom = (entries: readonly string[], sources: readonly Source[]): ReadonlySet<string> => {
  const modules = new Map(sources.filter(isModule).map((source) => [source.path, source]));
  const packages = packagesOf(sources);
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = modules.get(path);
    if (source === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const { target } of linksOf(source, packages)) if (target !== undefined) waiting.push(target);
  }
  return reached;
};

const manifest = z.object({
  name: z.string(),
  exports: z.record(z.string(), z.string()).optional(),
  bin: z.record(z.string(), z.string()).optional(),
});

const targetOf = (from: string, specifier: string, packages: readonly Package[]): string | undefined => {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
  for (const { name, entries } of packages) {
    if (specifier !== name && !specifier.startsWith(`${name}/`)) continue;
    return entries[`.${specifier.slice(name.length)}`];
  }
  return undefined;
};
