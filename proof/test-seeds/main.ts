// Runs all tests that hold something to properties, from a seed that is drawn for the run, and printed: `pnpm test`
// always tries the same cases. Exits as vitest does.
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { testsOfProperties } from "../../test/rules/properties.ts";
import { workspaceEnvironment } from "../../scripts/caller.ts";

const usage = `Usage: pnpm test:seeds [--seed S] [--quick] [FILE …]

  --seed S  what the cases follow from (default: drawn)
  --quick   as many cases of each property as \`pnpm test\` tries, a quarter (default: all of them)
  FILE      only the tests in these files (default: all that hold something to properties)`;

interface Options {
  readonly seed: number;
  readonly quick: boolean;
  readonly files: readonly string[];
}

const main = (): void => {
  const options = optionsOf(process.argv.slice(2));
  if (typeof options === "string") {
    console.error(`${options}\n\n${usage}`);
    process.exitCode = 2;
    return;
  }
  const { seed, quick, files } = options;
  console.log(`properties draw from the seed ${seed}`);
  const { status } = spawnSync("vitest", ["run", ...(files.length > 0 ? files : propertyTests())], {
    cwd: root,
    stdio: "inherit",
    env: { ...workspaceEnvironment(), COLLOQUY_SEED: String(seed), ...(quick ? {} : { COLLOQUY_RUNS: "full" }) },
  });
  if (status !== 0) console.error(`\nTo see it again: pnpm test:seeds --seed ${seed}${quick ? " --quick" : ""} FILE`);
  process.exitCode = status ?? 1;
};

const root = join(import.meta.dirname, "../..");

const propertyTests = (): readonly string[] =>
  testsOfProperties(
    globSync(["packages/*/{src,test}/**/*.ts", "{examples,test,scripts,proof}/**/*.ts", "packages/*/package.json"], {
      cwd: root,
      exclude: ["**/node_modules/**"],
    }).map((path) => ({ path: path.replaceAll("\\", "/"), text: readFileSync(join(root, path), "utf8") })),
  );

/** What was asked for, or what is wrong with it. */
const optionsOf = (given: readonly string[]): Options | string => {
  try {
    const { values, positionals } = parseArgs({
      args: [...given],
      options: { seed: { type: "string" }, quick: { type: "boolean", default: false } },
      allowPositionals: true,
    });
    const { seed = String(Math.floor(Math.random() * 1_000_000)) } = values;
    if (!/^\d{1,9}$/.test(seed)) return `--seed is "${seed}"; give a whole number of at most nine digits`;
    return { seed: Number(seed), quick: values.quick, files: positionals };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

main();
