// Runs every example, as a reader would, and fails when one of them does or when there is none.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { dirname } from "node:path";

/** Whether a path of the repository is that of an example: `examples/<name>/main.ts`. */
export const isExample = (path: string): boolean => /^examples\/[^/]+\/main\.ts$/.test(path);

const secondsMax = 60;

const main = (): void => {
  const root = dirname(import.meta.dirname);
  const examples = globSync("examples/*/main.ts", { cwd: root }).filter(isExample).toSorted();
  const failed = examples.filter((example) => {
    console.log(`\n# ${example}`);
    const stdio = ["ignore", "inherit", "inherit"] as const;
    const { status, signal } = spawnSync(process.execPath, [example], {
      cwd: root,
      stdio: [...stdio],
      timeout: secondsMax * 1000,
    });
    if (signal !== null) console.error(`${example} was stopped after ${secondsMax} s`);
    return status !== 0;
  });
  if (failed.length > 0) console.error(`\nfailed: ${failed.join(", ")}`);
  if (examples.length === 0) console.error("There is no examples/<name>/main.ts.");
  process.exitCode = failed.length === 0 && examples.length > 0 ? 0 : 1;
};

if (import.meta.main) main();
