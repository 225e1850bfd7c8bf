import { describe, expect, it } from "vitest";
import { twoServers } from "../../proof/two-servers/main.ts";

describe("two servers on one store", () => {
  it("answer each question once while one of them is killed", async () => {
    const run = await twoServers({ store: "sqlite", kills: 1, clients: 3, fault: null }, 1);
    expect(run.violations).toEqual([]);
    // Each client finishes the question that it began with.
    expect(run.answers).toBeGreaterThanOrEqual(3);
  }, 120_000);

  it("are noticed when they answer with nothing that the journal has", async () => {
    const run = await twoServers({ store: "sqlite", kills: 1, clients: 2, fault: "blind" }, 1);
    expect(run.violations.join("\n")).toMatch(/is completed with the output \[\]/u);
  }, 120_000);
});
