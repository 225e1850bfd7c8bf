import { expect, test } from "vitest";

import type { Fault } from "../../../proof/chaos/process/faults.ts";
import { killProcesses } from "../../../proof/chaos/process/target.ts";

test.each(["sqlite", "files"] as const)(
  "a conversation on %s that is killed again and again continues to its end, and loses and repeats nothing",
  async (store) => {
    const runs = await killProcesses({ store, runs: 5, seed: 2026, fault: null });
    expect(runs.flatMap(({ violations }) => violations)).toEqual([]);
    expect(runs.reduce((kills, run) => kills + run.kills, 0)).toBeGreaterThan(5);
  },
);

test.each<[Fault, RegExp]>([
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
])("kills notice %s", async (fault, violation) => {
  const runs = await killProcesses({ store: "sqlite", runs: 60, seed: 1, fault });
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(violation);
});
