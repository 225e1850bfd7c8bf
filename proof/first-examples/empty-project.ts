import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { callerEnvironment } from "../../scripts/caller.ts";
import { manifestIn } from "../../scripts/manifest.ts";

/** Packs the built packages, and installs them and others with npm in an empty project. Returns its folder. */
export const emptyProject = (root: string, folder: string, installs: readonly string[]): string => {
  const packed = join(folder, "packed");
  const project = join(folder, "project");
  mkdirSync(project);
  const { version } = manifestIn(root);
  if (globSync("packages/*/dist/index.js", { cwd: root }).length === 0)
    throw new Error(`nothing of version ${version} is built: \`pnpm build\` builds it`);
  const pack = ["-y", "pnpm@12.21.0", "-r", "--filter", "./packages/*", "pack", "--pack-destination", packed];
  run("npx", pack, root);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "first", private: true, type: "module" }));
  const tarballs = globSync(join(packed, "*.tgz"));
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  run("npm", ["install", ...quiet, ...tarballs, ...pinned(root, installs)], project);
  return project;
};

/** Adds the versions that this repository's examples use. */
const pinned = (root: string, installs: readonly string[]): readonly string[] => {
  const { dependencies } = manifestIn(join(root, "examples"));
  return [...new Set(installs)].map((name) => {
    const version = dependencies[name];
    return version === undefined || !/^\d/.test(version) ? name : `${name}@${version}`;
  });
};

const run = (command: string, args: readonly string[], cwd: string): void => {
  execFileSync(command, args, { cwd, env: callerEnvironment(), stdio: ["ignore", "ignore", "inherit"] });
};
