import { expect, test } from "vitest";

import { crashStore } from "../../proof/crash-store/main.ts";

// More of them, on other stores too, and each mistake that has to be noticed: crash-store.long.test.ts.
test("a store in files keeps what it acknowledged to writers that were killed", async () => {
  const runs = await crashStore(1, 2026, { store: "files", writing: "all", fault: null });
  expect(runs.flatMap(({ violations }) => violations)).toEqual([]);
  for (const { kills, noted } of runs) {
    expect(kills).toBeGreaterThan(0);
    expect(noted.appended).toBeGreaterThan(0);
  }
});
