import { expect, test } from "vitest";

import { crashPostgres } from "../../proof/crash-postgres/main.ts";
import { withPostgres } from "../../packages/runtime-node/test/stores/postgres/server.ts";

withPostgres("PostgreSQL that is killed", () => {
  test("would be noticed to lose what it acknowledged before it was written", async () => {
    const { violations } = await crashPostgres(5, 1, "asynchronous-commit");
    // If the writers continue before the check for the loss, another entry is in the place of the lost one.
    expect(violations.join("\n")).toMatch(/entry \d+ was acknowledged, and (nothing|\{.*\}) is there/);
  });
});
