import { expect, test } from "vitest";

import type { Fault } from "../../../proof/chaos/process/faults.ts";
import { killProcesses } from "../../../proof/chaos/process/target.ts";
import { spread } from "../../runs.ts";

// The gate runs the same without a fault.
const faults: readonly (readonly [Fault, RegExp])[] = [
  ["acknowledge-before-append", /entry \d+ was acknowledged, and is lost/],
  ["write-behind", /entry \d+ was acknowledged, and is lost/],
  ["perform-before-append", /was performed when entry -?\d+ was the newest, which does not ask for it/],
  ["once-runs-again", /\(once, started\) was answered by itself, and should be by tool\.failed unknown/],
  ["interrupted-runs-again", /\(interrupted\) was answered by itself, and should be by tool\.failed interrupted/],
  [
    "unmarked-interruption",
    /\(interrupted\) was answered by something else, and should be by tool\.failed interrupted|\(interrupted\) was answered by itself/,
  ],
  ["malformed-prompt", /the prompt of crashed.*: no result of call/],
];
test.each(spread(faults, 2))("kills notice %s", async (fault, violation) => {
  const runs = await killProcesses({ store: "sqlite", runs: 60, seed: 1, fault });
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(violation);
});
