import { availableParallelism } from "node:os";
import { join } from "node:path";

import { defineConfig } from "vitest/config";

const files = (ending: string): string[] =>
  ["packages/*/test", "test", "examples"].map((in_) => `${in_}/**/*${ending}`);

const long = files(".long.test.ts");

// `pnpm test` leaves out what takes long; `pnpm test:long` (`--mode long`) runs just that.
export default defineConfig(({ mode }) => ({
  test: {
    include: mode === "long" ? long : files(".test.ts"),
    exclude: ["**/node_modules/**", ...(mode === "long" ? [] : long)],
    env: {
      // What a process has stripped and compiled is kept for the next one, of this run and of others: a start from
      // the sources takes half of the time (`colloquy threads`: 1.3 s of the processor against 0.75 s).
      NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/compiled"),
      ...(mode === "long" ? { COLLOQUY_RUNS: process.env["COLLOQUY_RUNS"] ?? "full" } : {}),
    },
    setupFiles: ["test/setup.ts"],
    // Nothing keeps state in its module, so files may share a worker: loading everything again for each of them
    // takes nine tenths of the time (24 files: 5.4 s against 0.5 s).
    pool: "forks",
    isolate: false,
    // Node loads the sources as its users' Node does. Through vite each use of an import is a getter's call, and each
    // file is transformed: 114 s of the processor against 101 s (machine, host, and the laws and simulations).
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // The long tests wait for processes and servers a third of the time. More workers would make calls of a busy
    // machine late.
    maxWorkers: mode === "long" ? Math.ceil(availableParallelism() * 1.5) : "100%",
    // Properties run hundreds of cases in one test, on a machine that may be busy with something else.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // `expect.poll` gives up after a second otherwise, which a process that was just started may take on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    coverage: { include: ["packages/*/src/**/*.ts"] },
  },
}));
