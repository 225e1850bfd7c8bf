import fc from "fast-check";
import { expect, test } from "vitest";

import { seedOfRun } from "./seed.ts";

test("properties draw from the seed of the run, the same at each try", () => {
  const tried = [1, 2].map(() => fc.check(fc.property(fc.nat(), () => true)));
  expect(tried.map(({ runConfiguration }) => runConfiguration.seed)).toEqual([seedOfRun(), seedOfRun()]);
  expect(fc.sample(fc.nat())).toEqual(fc.sample(fc.nat()));
});
