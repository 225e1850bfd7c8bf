import { expect, test } from "vitest";

import { crashStore } from "../../proof/crash-store/main.ts";
import type { Fault } from "../../proof/crash-store/faults.ts";
import { storeKinds } from "../../proof/crash-store/stores.ts";

test.each(storeKinds)("a store in %s keeps what it acknowledged to writers that were killed", async (store) => {
  const runs = await crashStore(3, 2026, { store, writing: "all", fault: null });
  expect(runs.flatMap(({ violations }) => violations)).toEqual([]);
  for (const { kills, noted } of runs) {
    expect(kills).toBeGreaterThan(0);
    expect(noted.appended).toBeGreaterThan(0);
  }
});

test.each<[Fault, "appends" | "all", RegExp]>([
  ["write-behind", "appends", /entry \d+ was acknowledged, and is not there/],
  ["head-first", "all", /chunk \S+ of snapshot \d+ is missing or torn/],
  ["forgetful-inbox", "all", /envelope \S+ is lost/],
])("killing notices %s, writing %s", async (fault, writing, violation) => {
  const runs = await crashStore(40, 1, { store: "files", writing, fault });
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(violation);
});
