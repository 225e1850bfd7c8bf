// `pnpm release VERSION` does everything of a release but the upload: it looks whether the version can be released, runs
// the gate, packs what was built into `release/`, dates the section of the changelog, commits, tags, and prints the
// commands that upload. `--without-gate` leaves the gate out, for a trial.
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

import { datedChangelog, problemsOfRelease, type Released, uploadOrder } from "./release-plan.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "release");
const changelogPath = join(root, "CHANGELOG.md");

const main = (): void => {
  const { values, positionals } = parseArgs({
    options: { "without-gate": { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [version = ""] = positionals;
  const packages = releasedPackages();
  const changelog = readFileSync(changelogPath, "utf8");
  const changed = git("status", "--porcelain").split("\n").filter(Boolean);
  const problems = problemsOfRelease(version, packages, changelog, changed);
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    process.exitCode = 1;
    return;
  }
  run("node", ["scripts/build.ts"]);
  if (!values["without-gate"]) run("node", ["scripts/verify.ts"]);
  const tarballs = pack();
  for (const line of tarballs.map(lineOf)) console.log(line);
  writeFileSync(changelogPath, datedChangelog(changelog, version, new Date().toISOString().slice(0, 10)));
  git("commit", "--quiet", "--message", `Version ${version}`, "CHANGELOG.md");
  git("tag", "--annotate", `v${version}`, "--message", `Version ${version}`);
  console.log(`\nThe tag v${version} is made. To upload, each after those that it needs:\n\ngit push --follow-tags`);
  for (const name of uploadOrder(packages))
    console.log(`npm publish release/${name.slice(1).replace("/", "-")}-${version}.tgz --access public`);
};

const releasedPackages = (): readonly Released[] =>
  globSync("packages/*/package.json", { cwd: root })
    .toSorted()
    .map((path) => {
      const { name, version, dependencies } = manifestSchema.parse(JSON.parse(readFileSync(join(root, path), "utf8")));
      return { name, version, dependencies: Object.keys(dependencies) };
    });

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  dependencies: z.record(z.string(), z.string()).default({}),
});

const pack = (): readonly string[] => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  run("npx", ["-y", "pnpm@12.21.0", "-r", "--filter", "./packages/*", "pack", "--pack-destination", folder]);
  return globSync(join(folder, "*.tgz")).toSorted();
};

/** Its size, and by what a reader knows it again. */
const lineOf = (tarball: string): string => {
  const digest = createHash("sha256").update(readFileSync(tarball)).digest("hex");
  return `${String(Math.round(statSync(tarball).size / 1024)).padStart(5)} kB  ${basename(tarball)}  sha256:${digest}`;
};

const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" });

const run = (command: string, args: readonly string[]): void => {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return;
  throw new Error(`${command} ${args.join(" ")} failed, and nothing is released: ${error?.message ?? status}`);
};

main();
