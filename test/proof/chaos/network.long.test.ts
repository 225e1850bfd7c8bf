import { expect, test } from "vitest";

import { run, type Target } from "../../../proof/chaos/network/target.ts";
import { withPostgres } from "../../../packages/runtime-node/test/stores/postgres/server.ts";
import { withRedis } from "../../../packages/runtime-node/test/stores/redis/server.ts";

/**
 * Returns the violations on the first network that shows the fault. An answer must be lost at the right moment, which
 * about two networks in three do, on some machines fewer. Usually one of the first does, and seldom none of forty.
 */
const violationsOf = async (target: Target): Promise<string> => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const { violations } = await run(seed, target);
    if (violations.length > 0) return violations.join("\n");
  }
  return "";
};

withPostgres("A bad network before PostgreSQL", () => {
  const url = process.env["COLLOQUY_POSTGRES_URL"] ?? "";

  test("would show an append that is repeated without a look at the journal", { timeout: 240_000 }, async () => {
    const violations = await violationsOf({ store: "postgres", url, fault: "insisting" });
    // The timing of the network decides which entry takes the place of another.
    expect(violations).toMatch(/was (written as \d+, and is \d+|acknowledged, and .+ is there)|entry \d+ is torn/);
  });
});

withRedis("A bad network before Redis", ({ url }) => {
  test("would show an append that is taken for done", async () => {
    const violations = await violationsOf({ store: "redis", url, fault: "believing" });
    // Who rewrites an entry first is told that it is not there.
    expect(violations).toMatch(/was acknowledged, and \S+ is there|two could append|there is no entry \d+/);
  });

  test("would show a call that never ends", async () => {
    const violations = await violationsOf({ store: "redis", url, fault: "waiting", limitMs: 3_000 });
    expect(violations).toMatch(/append did not end within 3000 ms/);
  });
});
