// Runs all property tests from a random seed, which it prints; `pnpm test` always tries the same cases. Exits as vitest
// does.
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
  about: "only the tests in these files (default: all with properties)",
  read: (given) => given,
};

/** Returns the tests with properties, without those of the proofs, which name their seeds themselves. */
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
    seed: seed("the seed of the cases"),
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
