import { describe, expect, test } from "vitest";
import type { Fault } from "../../../../proof/chaos/tabs/faults.ts";
import { useTabs } from "../../../../proof/chaos/tabs/target.ts";
import type { RunOptions } from "../../../../proof/chaos/tabs/conversation.ts";
import { spread } from "../../../runs.ts";

const path = process.env["COLLOQUY_CHROMIUM"] ?? "";
const leftOut =
  path === "" ? " (left out: COLLOQUY_CHROMIUM names no browser; `pnpm servers pnpm test:long` has one)" : "";

describe.skipIf(path === "")(`tabs over a store with a mistake in it${leftOut}`, () => {
  /** Returns the violations of the first run that shows the fault. */
  const violationsOf = async (fault: Fault, options: Partial<RunOptions>): Promise<string> => {
    const runs = await useTabs(8, 5, { asks: 20, tabs: 3, closes: 0, stalls: 0, ...options, fault });
    return runs.flatMap(({ violations }) => violations).join("\n");
  };

  test.each(
    spread<readonly [name: string, fault: Fault, options: Partial<RunOptions>, words: RegExp]>(
      [
        ["take what another one has", "locks-ignored", { closes: 2 }, /which tab \d+ had called and is there/],
        ["wait for one that is gone", "lock-outlives-tab", { closes: 4 }, /no tab continues/],
        // An overwritten entry shows in many ways. The gate runs the same without the fault and finds nothing.
        ["write on after they stood still", "no-guards", { stalls: 4 }, /./],
      ],
      1,
    ),
  )("are noticed to %s", async (_, fault, options, words) => {
    expect(await violationsOf(fault, options)).toMatch(words);
  });
});
