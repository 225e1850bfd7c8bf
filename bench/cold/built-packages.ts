// For `node --import`: the packages are then those that `scripts/build.ts` built, by the entry points that they ship,
// and not their sources.
import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier.startsWith("@colloquy/") ? builtFileOf(specifier) : specifier, context),
});

const builtFileOf = (specifier: string): string => {
  const [, name, ...path] = specifier.split("/");
  const folder = new URL(`../../packages/${name}/`, import.meta.url);
  // A manifest of this repository.
  const { publishConfig } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as Manifest;
  const entry = publishConfig.exports[["."].concat(path).join("/")];
  if (entry === undefined || typeof entry === "string") throw new Error(`${specifier} is no entry point that ships`);
  const file = new URL(entry.default, folder);
  if (!existsSync(file)) throw new Error(`there is no ${fileURLToPath(file)}: run node scripts/build.ts first`);
  return file.href;
};

interface Manifest {
  readonly publishConfig: { readonly exports: Readonly<Record<string, string | { readonly default: string }>> };
}
