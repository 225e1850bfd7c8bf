import { expect, test } from "vitest";

import { crash } from "../../proof/crash/main.ts";
import type { Fault } from "../../proof/crash/faults.ts";

test("a conversation that is killed again and again goes on to its end, and loses and repeats nothing", async () => {
  const runs = await crash(5, 2026, null);
  expect(runs.flatMap(({ violations }) => violations)).toEqual([]);
  expect(runs.reduce((kills, run) => kills + run.kills, 0)).toBeGreaterThan(5);
});

test.each<[Fault, RegExp]>([
  ["acknowledge-before-append", /was acknowledged in boot \d+, and is not there/],
  ["write-behind", /was acknowledged in boot \d+, and is not there/],
  ["perform-before-append", /was performed when entry -?\d+ was the newest, which does not ask for it/],
  ["once-runs-again", /charge .* its outcome is "completed", and should be "unknown"/],
  ["interrupted-runs-again", /notify .* its outcome is "completed", and should be "interrupted"/],
  ["unmarked-interruption", /notify .* its outcome is "failed", and should be "interrupted"/],
  ["malformed-prompt", /the prompt of crashed.*: no result of call/],
])("crashing notices %s", async (fault, violation) => {
  const runs = await crash(60, 1, fault);
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(violation);
});
