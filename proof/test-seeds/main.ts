// Runs all tests that check properties, from a seed that is drawn for the run, and printed: `pnpm test`
// always tries the same cases. Exits as vitest does.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { workspaceEnvironment } from "../../scripts/caller.ts";
import { sixteenth } from "../../test/runs.ts";
import { testsOfProperties } from "../../test/rules/properties.ts";
import { sourcesIn } from "../../test/rules/source.ts";
import { runCommand } from "../kit/command.ts";
import { flag, type Option, seed } from "../kit/options.ts";

const root = join(import.meta.dirname, "../..");

const files: Option<readonly string[]> = {
  kind: "positional",
  placeholder: "FILE …",
  about: "only the tests in these files (default: all that check properties)",
  read: (given) => given,
};

/** Those of the proofs are left out: they name the seeds of their runs themselves. */
const propertyTests = (): readonly string[] =>
  testsOfProperties(
    sourcesIn(root, [
      "packages/*/{src,test}/**/*.ts",
      "{examples,test,scripts,proof}/**/*.ts",
      "packages/*/package.json",
    ]),
  ).filter((path) => !path.startsWith("test/proof/"));

await runCommand({
  name: "test:seeds",
  options: {
    seed: seed("what the cases follow from"),
    quick: flag("a sixteenth of the cases of each property (default: all of them)"),
    files,
  },
  run: ({ seed, quick, files }, again) => {
    console.log(`properties draw from the seed ${seed}`);
    const { status } = spawnSync("vitest", ["run", ...(files.length > 0 ? files : propertyTests())], {
      cwd: root,
      stdio: "inherit",
      env: { ...workspaceEnvironment(), COLLOQUY_SEED: String(seed), COLLOQUY_RUNS: quick ? sixteenth : "full" },
    });
    if (status !== 0) console.error(`\nTo see it again: ${again({ seed })} FILE`);
    process.exitCode = status ?? 1;
  },
});
