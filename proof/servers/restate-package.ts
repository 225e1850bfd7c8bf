import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

import { cacheFolder } from "./debian-packages.ts";

/** The version that is run. */
const restateVersion = "1.7.12";

/** The path of the server's program; null until `pnpm engines:install` has got it. */
export const restateProgram = (): string | null => {
  const program = programIn(installed());
  return existsSync(program) ? program : null;
};

/**
 * Gets the program of the server by npm, for this system alone, unless it is there. It is no dependency of any package,
 * nor of this workspace: it is large, and only `pnpm engines` starts it. No script of a package runs.
 *
 * @throws Error with what npm says
 */
const installRestate = (): string => {
  const folder = installed();
  const program = programIn(folder);
  if (existsSync(program)) return program;
  mkdirSync(join(folder, ".."), { recursive: true });
  const fresh = mkdtempSync(`${folder}-`);
  try {
    const options = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    const args = ["install", "--prefix", fresh, ...options, `${packageName}@${restateVersion}`];
    const { status, error, stderr } = spawnSync("npm", args, { cwd: fresh, encoding: "utf8" });
    if (status !== 0) throw error ?? new Error(`npm ${args.join(" ")} failed:\n${stderr}`);
    // At once, and whole: another process may do the same.
    if (!existsSync(folder)) renameSync(fresh, folder);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  if (existsSync(program)) return program;
  throw new Error(`npm has no server of Restate for ${process.platform} on ${process.arch}`);
};

const packageName = `@restatedev/restate-server-${process.platform}-${process.arch}`;

const installed = (): string => {
  const cache = cacheFolder();
  if (cache === null) throw new Error("the server of Restate is kept in node_modules/.cache, which can't be written");
  return join(cache, `restate-${restateVersion}`);
};

const programIn = (folder: string): string => join(folder, "node_modules", packageName, "bin/restate-server");

// `pnpm engines:install`
if (import.meta.main) console.log(`Restate ${restateVersion}: ${installRestate()}`);
