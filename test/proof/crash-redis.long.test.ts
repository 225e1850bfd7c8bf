import { expect, test } from "vitest";

import { crashRedis } from "../../proof/crash-redis/main.ts";
import { withRedis } from "../../packages/runtime-node/test/stores/redis/server.ts";

withRedis("Redis that is killed", () => {
  test("would be noticed to lose what it acknowledged before it was flushed", async () => {
    const { violations } = await crashRedis(3, 1, "everysec");
    expect(violations.join("\n")).toMatch(/entry \d+ was acknowledged, and/);
  });
});
