import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes generated files, by their paths, and removes those that are null; with `--check` it changes none, and this
 * process fails when one of them is stale.
 *
 * @param command what writes them
 */
export const writeOrCheck = (root: string, files: Readonly<Record<string, string | null>>, command: string): void => {
  const isCheck = process.argv.includes("--check");
  const stale = Object.entries(files).filter(([path, text]) => textOf(join(root, path)) !== text);
  for (const [path, text] of stale) {
    if (isCheck) console.error(`${path} is stale: run \`${command}\`, look at the difference, and commit it`);
    else if (text === null) rmSync(join(root, path));
    else writeFileSync(join(root, path), text);
  }
  if (isCheck && stale.length > 0) process.exitCode = 1;
  else console.log(`${command}: ${Object.keys(files).length} files are up to date, ${stale.length} of them since now`);
};

const textOf = (path: string): string | null => (existsSync(path) ? readFileSync(path, "utf8") : null);
