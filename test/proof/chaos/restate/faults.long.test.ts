import { describe, expect, test } from "vitest";

import type { Fault } from "../../../../proof/chaos/restate/faults.ts";
import { killEngines } from "../../../../proof/chaos/restate/target.ts";
import { moveAround } from "../../../../proof/chaos/restate/moves.ts";
import { serverUrl } from "../../../../proof/kit/server-urls.ts";
import { inFolder } from "../../../../proof/kit/folder.ts";
import { restateProgram } from "../../../../proof/servers/restate-package.ts";
import { spread } from "../../../runs.ts";

const isInstalled = restateProgram() !== null && serverUrl("redis") !== null && serverUrl("postgres") !== null;
const leftOut = isInstalled ? "" : " (left out: `pnpm engines:install` gets Restate, `pnpm servers` the stores)";

describe.skipIf(!isInstalled)(`an engine with a mistake in its workers${leftOut}`, () => {
  /** Returns the violations of the first run that shows the fault, if kills happen in the middle of such tools. */
  const violationsOf = async (fault: Fault, at: readonly string[]): Promise<string> => {
    const runs = await killEngines(5, 1, {
      conversations: 14,
      turns: 4,
      workers: 2,
      kills: 8,
      "server-kills": 0,
      at,
      "snapshot-every": 4,
      lanes: 7,
      slack: 40,
      fault,
    });
    return runs.flatMap(({ violations }) => violations).join("\n");
  };

  test.each(
    spread<readonly [name: string, fault: Fault, at: readonly string[], words: RegExp]>(
      [
        [
          "run in a plain step what must not run twice",
          "plain-step",
          ["notify"],
          /whose tool is not to be run again, ran 2 times/,
        ],
        [
          "begin again what nobody knows the outcome of",
          "begins-again",
          ["charge", "refund"],
          /is not to be run again, ran 2 times/,
        ],
      ],
      1,
    ),
  )("is noticed to %s", async (_, fault, at, words) => {
    expect(await violationsOf(fault, at)).toMatch(words);
  });

  test("is noticed to take a state by its position alone", async () => {
    const violations = await inFolder("engines-fault", (folder) => moveAround(folder, 4, "no-stamp"));
    expect(violations.join("\n")).toMatch(/R2: entry \d+ is another after the crash/);
  });
});
