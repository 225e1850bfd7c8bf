import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "examples/**/*.test.ts"],
    // Nothing keeps state in its module, so files may share a worker: loading everything anew for each of them
    // takes nine tenths of the time (24 files: 5.4 s against 0.5 s).
    pool: "forks",
    isolate: false,
    // Properties run hundreds of cases in one test, on a machine that may be busy with something else.
    testTimeout: 30_000,
    coverage: { include: ["packages/*/src/**/*.ts"] },
  },
});
