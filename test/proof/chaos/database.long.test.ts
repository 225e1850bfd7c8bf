import { expect, test } from "vitest";

import { withPostgres } from "../../../packages/runtime-node/test/stores/postgres/server.ts";
import { withRedis } from "../../../packages/runtime-node/test/stores/redis/server.ts";
import { killDatabases } from "../../../proof/chaos/database/target.ts";
import type { lateFaults } from "../../../proof/chaos/store/faults.ts";

// The gate runs the same without a fault.
test.each<[keyof typeof lateFaults, boolean, RegExp]>([
  ["write-behind", true, /entry \d+, .+, was acknowledged, and nothing is there/],
  ["head-first", false, /chunk \S+ .*of snapshot \d+ is missing or torn/],
  ["forgetful-inbox", false, /inbox item .+ is lost/],
])("kills of writers notice %s, with only appends: %s", async (fault, onlyAppends, violation) => {
  const runs = await killDatabases({ store: "files", runs: 60, seed: 1, fault }, onlyAppends);
  expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(violation);
});

withPostgres("PostgreSQL that is killed", () => {
  test("is noticed to lose what it acknowledged before it was written", async () => {
    const runs = await killDatabases({ store: "postgres", runs: 2, seed: 1, fault: "asynchronous-commit" }, true);
    // If the writers continue before the check, another entry has taken the place of the lost one.
    expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(/entry \d+, \S+, was acknowledged, and/);
  });
});

withRedis("Redis that is killed", () => {
  test.each(["everysec", "dumps"] as const)("is noticed to lose what it acknowledged: %s", async (fault) => {
    const runs = await killDatabases({ store: "redis", runs: 1, seed: 1, fault });
    expect(runs.flatMap(({ violations }) => violations).join("\n")).toMatch(/entry \d+, \S+, was acknowledged, and/);
  });
});
