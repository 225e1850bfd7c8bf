import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs, spread } from "../../../test/runs.ts";
import { kinds } from "./simulation/conversation.ts";
import { type Case, reference, type Seeded, simulate } from "./simulation/engine.ts";
import { judge } from "./simulation/judge.ts";
import { combineDoubles } from "./simulation/promise.ts";
import { seededFaults } from "./simulation/seeded-faults.ts";

let restore = (): void => {};
beforeAll(() => {
  restore = combineDoubles();
});
afterAll(() => restore());

/** Simulates a case and judges it. @throws Error that names the case */
const hold = async (given: Case, seeded?: Seeded): Promise<void> => {
  try {
    const [simulated, expected] = [await simulate(given, seeded), await reference(given)];
    judge(simulated, expected);
  } catch (cause) {
    throw new Error(`${JSON.stringify(given)}: ${String(cause)}`, { cause });
  }
};

const cases: fc.Arbitrary<Case> = fc
  .record({
    kinds: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }),
    movedAt: fc.constantFrom(null, "refund", "steer", "charge"),
    strikes: fc.constantFrom(0, 1, 3, 8),
    lost: fc.constantFrom(0, 30, 100),
    snapshotEvery: fc.integer({ min: 1, max: 8 }),
    isShown: fc.constantFrom(false, false, true),
    seed: fc.nat(),
  })
  .map((drawn) => ({ ...drawn, isShown: drawn.isShown || drawn.strikes === 0 }));

/** Makes many cases of one script, with many deaths. */
const manyOf = (length: number, script: readonly string[], lost?: number): readonly Case[] =>
  Array.from({ length }, (_, seed) => {
    const given = { kinds: script, movedAt: null, isShown: false, strikes: 8, snapshotEvery: 1 + (seed % 8), seed };
    return { ...given, lost: lost ?? (seed % 3) * 50 };
  });

describe("a conversation on workers that die", () => {
  it("has the same result as in memory, or differs by the rules of recovery", async () => {
    const property = fc.asyncProperty(cases, (given) => hold(given));
    await fc.assert(property, { numRuns: runs(240) });
  });

  it("is the same for the same seed", async () => {
    for (const given of manyOf(Math.max(1, runs(8)), ["charge", "steer", "cancel"]))
      expect((await simulate(given)).journal).toEqual((await simulate(given)).journal);
  });

  it.each([
    ["continues a call that was begun by an attempt whose connection was lost", ["charge", "verify"], 100],
    ["has in its journal all that was shown to a host, and takes that host's answer", ["caller", "plain"], 0],
  ])("%s", async (_, script, lost) => {
    for (const given of manyOf(runs(200), script, lost)) await hold(given);
  });
});

describe("a fault is noticed", () => {
  it.each(spread(seededFaults))("$name", async ({ seeded, script, noticed }) => {
    const problems: string[] = [];
    for (const given of manyOf(400, script)) {
      await hold(given, seeded).catch((thrown: Error) => problems.push(thrown.message));
      if (problems.some((problem) => noticed.test(problem))) break;
    }
    expect(problems).toContainEqual(expect.stringMatching(noticed));
  });
});
