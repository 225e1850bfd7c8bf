import { describe, expect, it } from "vitest";
import { twoServers } from "../../proof/two-servers/main.ts";

describe("two servers on one store", () => {
  it("answer each question once, whichever is asked, while one of them is killed", async () => {
    const run = await twoServers({ store: "sqlite", kills: 1, clients: 3, fault: null }, 1);
    expect(run.violations).toEqual([]);
    expect(run.answers).toBeGreaterThan(3);
  }, 120_000);
});
