import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { cacheFolder, makeOnce } from "./debian-packages.ts";

export interface NpmProgram {
  readonly name: string;
  readonly version: string;
  /** The package for this system; undefined if there is none. */
  readonly package: string | undefined;
  readonly path: string;
}

/** This system's name in npm's packages, such as `linux-x64`. */
export const thisSystem = `${process.platform}-${process.arch}`;

/** Returns the path of a program; null before it is installed. */
export const installedProgram = (program: NpmProgram): string | null => {
  const path = pathIn(folderFor(program), program);
  return path !== null && existsSync(path) ? path : null;
};

/**
 * Installs a program from npm for this system, unless it is installed, and returns its path. No package and not this
 * workspace depends on it, since it is large and few commands use it. No package script runs.
 *
 * @throws Error with npm's output, or if npm has no such program for this system
 */
export const installProgram = (program: NpmProgram): string => {
  const { name, version } = program;
  const folder = folderFor(program);
  const path = pathIn(folder, program);
  if (path === null) throw new Error(`npm has no ${name} for ${thisSystem}`);
  if (existsSync(path)) return path;
  makeOnce(folder, (fresh) => {
    const options = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    const args = ["install", "--prefix", fresh, ...options, `${program.package}@${version}`];
    const { status, error, stderr } = spawnSync("npm", args, { cwd: fresh, encoding: "utf8" });
    if (status !== 0) throw error ?? new Error(`npm ${args.join(" ")} failed:\n${stderr}`);
  });
  if (existsSync(path)) return path;
  throw new Error(`the package ${program.package} of npm has no ${program.path}`);
};

const folderFor = ({ name, version }: NpmProgram): string => {
  const cache = cacheFolder();
  if (cache === null) throw new Error(`${name} is kept in node_modules/.cache, which can't be written`);
  return join(cache, `${name.toLowerCase()}-${version}`);
};

const pathIn = (folder: string, program: NpmProgram): string | null =>
  program.package === undefined ? null : join(folder, "node_modules", program.package, program.path);
