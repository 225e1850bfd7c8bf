// `pnpm test` simulates few conversations. The long run simulates all.
import { expect, it } from "vitest";
import { defaultFaults, simulate } from "../../src/simulate/index.ts";
import "./simulate.test.ts";

it("a hundred simulated conversations meet every fault", async () => {
  const missing = new Set(Object.keys(defaultFaults));
  for (let seed = 1; seed <= 100; seed++)
    for (const fault of Object.keys((await simulate({ seed })).counts.faults)) missing.delete(fault);
  expect([...missing]).toEqual([]);
});
