import { expect, test } from "vitest";

import { crash } from "../../proof/crash/main.ts";

// Many of them, and each mistake that has to be noticed: crash.long.test.ts.
test("a conversation that is killed again and again goes on to its end, and loses and repeats nothing", async () => {
  const runs = await crash(1, 2026, null);
  expect(runs.flatMap(({ violations }) => violations)).toEqual([]);
  expect(runs.reduce((kills, run) => kills + run.kills, 0)).toBeGreaterThan(0);
});
