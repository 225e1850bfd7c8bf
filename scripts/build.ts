// Builds every package into its `dist`, and removes there what was compiled from a source that is gone:
// it must not be packed.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);

for (const compiled of globSync("packages/*/dist/**/*.{js,d.ts}", { cwd: root })) {
  const source = compiled.replace("/dist/", "/src/").replace(/(\.d\.ts|\.js)$/, ".ts");
  if (existsSync(join(root, source))) continue;
  rmSync(join(root, compiled));
  rmSync(join(root, `${compiled}.map`), { force: true });
}

const tsc = join(root, "node_modules/typescript/bin/tsc");
const { status } = spawnSync(process.execPath, [tsc, "-b", "tsconfig.build.json"], { cwd: root, stdio: "inherit" });
process.exitCode = status ?? 1;
