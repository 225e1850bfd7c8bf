import { installedProgram, installProgram, type NpmProgram, thisSystem } from "../servers/npm-program.ts";

/** A program other than Node that runs JavaScript. */
export type PlaceName = "deno" | "bun" | "workerd";

/** Returns the path of a place's program; null before `pnpm places:install`. */
export const placeProgram = (name: PlaceName): string | null => installedProgram(places[name]);

/** Returns the name of the place, with its version. */
export const placeTitle = (name: PlaceName): string => `${places[name].name} ${places[name].version}`;

const packagesOfDeno: Readonly<Record<string, string>> = {
  "linux-x64": "@deno/linux-x64-glibc",
  "linux-arm64": "@deno/linux-arm64-glibc",
  "darwin-x64": "@deno/darwin-x64",
  "darwin-arm64": "@deno/darwin-arm64",
};

const packagesOfBun: Readonly<Record<string, string>> = {
  "linux-x64": "@oven/bun-linux-x64",
  "linux-arm64": "@oven/bun-linux-aarch64",
  "darwin-x64": "@oven/bun-darwin-x64",
  "darwin-arm64": "@oven/bun-darwin-aarch64",
};

const packagesOfWorkerd: Readonly<Record<string, string>> = {
  "linux-x64": "@cloudflare/workerd-linux-64",
  "linux-arm64": "@cloudflare/workerd-linux-arm64",
  "darwin-x64": "@cloudflare/workerd-darwin-64",
  "darwin-arm64": "@cloudflare/workerd-darwin-arm64",
};

const places: Readonly<Record<PlaceName, NpmProgram>> = {
  deno: { name: "Deno", version: "2.9.6", package: packagesOfDeno[thisSystem], path: "deno" },
  bun: { name: "Bun", version: "1.4.5", package: packagesOfBun[thisSystem], path: "bin/bun" },
  workerd: { name: "workerd", version: "1.20261117.1", package: packagesOfWorkerd[thisSystem], path: "bin/workerd" },
};

// `pnpm places:install`
if (import.meta.main)
  for (const place of Object.values(places)) console.log(`${place.name} ${place.version}: ${installProgram(place)}`);
