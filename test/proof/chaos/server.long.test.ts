import { describe, expect, it } from "vitest";
import { killServers } from "../../../proof/chaos/server/target.ts";

describe("two servers on one store", () => {
  // The gate runs the same without a fault.
  it("are noticed when they answer with nothing that the journal has", async () => {
    const [run] = await killServers({ store: "sqlite", runs: 1, seed: 1, fault: "blind" }, { kills: 1, clients: 2 });
    expect(run?.violations.join("\n")).toMatch(/is completed with the output \[\]/u);
  }, 120_000);
});
