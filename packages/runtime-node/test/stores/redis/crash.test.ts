import { expect, test } from "vitest";

import { crashRedis } from "../../../../../scripts/crash-redis.ts";
import { withRedis } from "./server.ts";

withRedis("Redis that is killed", () => {
  test("would be noticed to lose what it acknowledged before it was flushed", async () => {
    const { violations } = await crashRedis(3, 1, "everysec");
    expect(violations.join("\n")).toMatch(/entry \d+ was acknowledged, and/);
  }, 60_000);
});
