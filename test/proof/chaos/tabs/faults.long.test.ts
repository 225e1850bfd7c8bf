import { describe, expect, test } from "vitest";
import type { Fault } from "../../../../proof/chaos/tabs/faults.ts";
import { useTabs } from "../../../../proof/chaos/tabs/target.ts";
import type { RunOptions } from "../../../../proof/chaos/tabs/conversation.ts";

const path = process.env["COLLOQUY_CHROMIUM"] ?? "";
const leftOut =
  path === "" ? " (left out: COLLOQUY_CHROMIUM names no browser; `pnpm servers pnpm test:long` has one)" : "";

describe.skipIf(path === "")(`tabs over a store with a mistake in it${leftOut}`, () => {
  /** Returns the violations of the first run that shows the fault. */
  const violationsOf = async (fault: Fault, options: Partial<RunOptions>): Promise<string> => {
    const runs = await useTabs(8, 5, { asks: 20, tabs: 3, closes: 0, stalls: 0, ...options, fault });
    return runs.flatMap(({ violations }) => violations).join("\n");
  };

  test("are noticed to take what another one has", async () => {
    expect(await violationsOf("locks-ignored", { closes: 2 })).toMatch(/which tab \d+ had called and is there/);
  });

  test("are noticed to wait for one that is gone", async () => {
    expect(await violationsOf("lock-outlives-tab", { closes: 4 })).toMatch(/stands still, and nobody goes on/);
  });

  test("are noticed to write on after they stood still", async () => {
    // An entry that is written over shows in many ways. The gate runs the same without the mistake, and nothing is wrong.
    expect(await violationsOf("no-guards", { stalls: 4 })).not.toBe("");
  });
});
