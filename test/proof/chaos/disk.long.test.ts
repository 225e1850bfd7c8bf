import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { faults } from "../../../proof/chaos/disk/disk.ts";
import { spread } from "../../runs.ts";

const script = fileURLToPath(new URL("../../../proof/chaos/main.ts", import.meta.url));

/** Runs in its own process, since it replaces the file system. */
const cutPower = (...given: readonly string[]): { readonly status: number | null; readonly said: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--target", "disk", ...given], {
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
};

// The gate runs the same without a fault.
test.each(spread(Object.keys(faults), 2))("a store that leaves flushes out is noticed: %s", (fault) => {
  expect(cutPower("--runs", "40", "--seed", "1", "--fault", fault)).toMatchObject({
    status: 1,
    said: expect.stringMatching(/^Seed \d+: \d+ violations?\.\n {2}after cut \d: thread /),
  });
});
