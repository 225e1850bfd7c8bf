// `pnpm release VERSION` does everything of a release but the upload: it checks whether the version can be released,
// runs the gate, packs the build into `release/`, dates the changelog's section, commits, tags, and prints the commands
// to upload. It reports problems before it does anything. An interrupted release continues at the next call.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { runCommand } from "../proof/kit/command.ts";
import { flag, type Option } from "../proof/kit/options.ts";
import { release } from "./release-run.ts";
import { kilobytes, packAll, sizeOfTarball } from "./tarball.ts";

const root = dirname(import.meta.dirname);

const version: Option<string> = {
  kind: "positional",
  placeholder: "VERSION",
  about: "what is released, as 0.2.0: the version of all manifests, with a section in the changelog",
  isRequired: true,
  read: ([given, ...others]) => {
    if (given === undefined || others.length > 0) throw new RangeError("give one VERSION, as 0.2.0");
    return given;
  },
};

const main = (given: string, withoutGate: boolean): void => {
  takeBackShippedDocs();
  try {
    const problems = release(root, given, {
      gate: withoutGate ? null : () => run("node", ["scripts/verify.ts"]),
      pack: () => {
        run("node", ["scripts/build.ts"]);
        return packAll(root, join(root, "release")).map(lineOf);
      },
      today: () => new Date().toISOString().slice(0, 10),
      print: (line) => console.log(line),
    });
    if (problems.length === 0) return;
    console.error(problems.join("\n"));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error(`${given} is not released. The same command goes on from here.`);
  }
  process.exitCode = 1;
};

/** Removes the files that an interrupted packing left beside a package's sources. */
const takeBackShippedDocs = (): void => {
  for (const kept of globSync("packages/*/node_modules/.README.md", { cwd: root }))
    run("node", [join(root, "scripts/ship-docs.ts"), "--undo"], join(root, dirname(dirname(kept))));
};

/** Returns a line with the tarball's sizes and hash. */
const lineOf = (tarball: string): string => {
  const { packed, unpacked } = sizeOfTarball(tarball);
  const digest = createHash("sha256").update(readFileSync(tarball)).digest("hex");
  return `${kilobytes(packed).padStart(7)}, unpacked ${kilobytes(unpacked).padStart(7)}  ${basename(tarball)}  sha256:${digest}`;
};

const run = (command: string, args: readonly string[], cwd = root): void => {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? status}`);
};

await runCommand({
  name: "release",
  options: {
    version,
    "without-gate": flag("leave the gate out, for a trial; the commit says so"),
  },
  run: (values) => main(values.version, values["without-gate"]),
});
