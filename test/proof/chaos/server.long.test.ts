import { describe, expect, it } from "vitest";
import { killServers } from "../../../proof/chaos/server/target.ts";

describe("two servers on one store", () => {
  it("answer each question once while one of them is killed", async () => {
    const [run] = await killServers({ store: "sqlite", runs: 1, seed: 1, fault: null }, { kills: 1, clients: 3 });
    expect(run?.violations).toEqual([]);
    // Each client finishes the question that it began with.
    expect(run?.answers).toBeGreaterThanOrEqual(3);
  }, 120_000);

  it("are noticed when they answer with nothing that the journal has", async () => {
    const [run] = await killServers({ store: "sqlite", runs: 1, seed: 1, fault: "blind" }, { kills: 1, clients: 2 });
    expect(run?.violations.join("\n")).toMatch(/is completed with the output \[\]/u);
  }, 120_000);
});
