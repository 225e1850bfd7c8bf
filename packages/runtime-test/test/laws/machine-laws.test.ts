import { keepAll, lastTurns, promptOf } from "@colloquy/machine";
import { playArbitrary, realSubject } from "@colloquy/runtime-test/arbitraries";
import { checkMachineLaws, laws } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "./runs.ts";

describe("the laws of the machine, on any configuration and schedule", () => {
  test.each(Object.entries(laws))("%s holds", (_, law) => {
    fc.assert(
      fc.property(playArbitrary, ({ options, schedule }) => law(options, schedule)),
      { numRuns: runs(60) },
    );
  });
});

const emptyPrompt: typeof promptOf = (machine, state) => ({ ...promptOf(machine, state), messages: [] });

describe("checkMachineLaws", () => {
  test.each([{ policy: keepAll() }, { policy: lastTurns(2), interrupted: "omit" as const }])(
    "holds one configuration to all of them: $policy.name",
    (options) => checkMachineLaws(options, { runs: runs(10) }),
  );

  test("says which law does not hold, for which schedule, and from which seed", () => {
    const subject = { ...realSubject, promptOf: emptyPrompt };
    const run = () => checkMachineLaws({}, { runs: 200, seed: 7, subject });
    expect(run).toThrow(/M10: the prompt after entry \d+ .* it is empty/);
    expect(run).toThrow(/seed: 7/);
    expect(run).toThrow(/Counterexample: .*"moves":\[\{/);
  });
});
