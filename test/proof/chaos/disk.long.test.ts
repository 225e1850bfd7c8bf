import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { faults } from "../../../proof/chaos/disk/disk.ts";

const script = fileURLToPath(new URL("../../../proof/chaos/main.ts", import.meta.url));

/** In a process of its own, whose file system it replaces. */
const cutPower = (...given: readonly string[]): { readonly status: number | null; readonly said: string } => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, "--target", "disk", ...given], {
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
};

test("a store of files keeps what it acknowledged when the power is cut", () => {
  expect(cutPower("--runs", "20", "--seed", "1")).toMatchObject({
    status: 0,
    said: expect.stringMatching(
      /^disk, files: 60 power cuts under 20 stores of files, and 240 states .*\nNothing is wrong/,
    ),
  });
});

test.each(Object.keys(faults))("a store that leaves flushes out is noticed: %s", (fault) => {
  expect(cutPower("--runs", "40", "--seed", "1", "--fault", fault)).toMatchObject({
    status: 1,
    said: expect.stringMatching(/^Seed \d+: \d+ violations?\.\n {2}after cut \d: thread /),
  });
});
