import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { copyBuilt } from "../../bench/kit/installed.ts";
import { callerEnvironment } from "../../scripts/caller.ts";
import { manifestIn } from "../../scripts/manifest.ts";
import { cacheFolder, makeOnce } from "../servers/debian-packages.ts";

/**
 * Puts example 26 into a folder, with this repository's packages as they are published. npm packages are installed
 * once, into the cache, and hard-linked: Next reads no sources below `node_modules`, and follows no symbolic link.
 */
export const nextApp = (root: string, folder: string): string => {
  const example = join(root, "examples/26-next");
  const installed = installedFor(root, manifestIn(example).dependencies);
  const app = join(folder, "app");
  cpSync(example, app, { recursive: true, filter: (path) => !/\/(\.next|node_modules)$/.test(path) });
  const missing = loaded.find((path) => !existsSync(join(root, path)));
  if (missing !== undefined) throw new Error(`${missing} is not there`);
  const copied = ["-al", "-a"].some(
    (how) => spawnSync("cp", [how, join(installed, "node_modules"), app], { stdio: "ignore" }).status === 0,
  );
  if (!copied) throw new Error(`${installed} cannot be copied to ${app}`);
  for (const name of own) copyBuilt(join(root, "packages", name, "package.json"), app, true);
  return app;
};

/** Files that Next loads by their paths. The proof runs each. */
const loaded = [
  "examples/26-next/host.ts",
  "examples/26-next/instrumentation.ts",
  "examples/26-next/next.config.ts",
  "examples/26-next/app/api/chat/[[...path]]/route.ts",
] as const;

/** The packages of this repository that the example imports, with their dependencies. */
const own = ["machine", "host", "interchange", "runtime-node", "server"] as const;

/** Returns a folder with all npm packages that the example and ours need. They are too large for the workspaces. */
const installedFor = (root: string, example: Readonly<Record<string, string>>): string => {
  const cache = cacheFolder();
  if (cache === null) throw new Error("the app is kept in node_modules/.cache, which cannot be written");
  const needed = own.map((name) => manifestIn(join(root, "packages", name)).dependencies);
  const catalog = readFileSync(join(root, "pnpm-workspace.yaml"), "utf8");
  const foreign = needed
    .flatMap((each) => Object.entries(each))
    .filter(([name]) => !name.startsWith("@colloquy/"))
    .map(([name, range]) => [name, range === "catalog:" ? rangeIn(catalog, name) : range] as const);
  const manifest = {
    private: true,
    dependencies: { ...Object.fromEntries<string>(foreign), ...example },
  };
  const text = JSON.stringify(manifest);
  const folder = join(cache, `next-${createHash("sha256").update(text).digest("hex").slice(0, 12)}`);
  makeOnce(folder, (fresh) => {
    writeFileSync(join(fresh, "package.json"), text);
    const args = ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
    const { status, stderr, error } = spawnSync("npm", args, {
      cwd: fresh,
      env: callerEnvironment(),
      encoding: "utf8",
    });
    if (status !== 0) throw error ?? new Error(`npm install failed:\n${stderr}`);
  });
  return folder;
};

const rangeIn = (catalog: string, name: string): string =>
  new RegExp(`^ {2}${name}: (\\S+)$`, "m").exec(catalog)?.[1] ?? "*";
