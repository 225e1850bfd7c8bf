import { expect, test } from "vitest";
import type { History } from "../../src/policies.ts";
import { newestFittingOf, withNewestFitting } from "../../src/prompt/history.ts";
import { inputOf } from "./policies/made-up-history.ts";

// The counts that a history has of all its turns do not hold for others that are shown in their place.

const history = withNewestFitting(inputOf({}).history, () => ({ turn: 1, unit: 0 }));

test("a history that was given the shortcut has it", () => {
  expect(newestFittingOf(history)?.(0)).toEqual({ turn: 1, unit: 0 });
  expect(newestFittingOf(inputOf({}).history)).toBeUndefined();
});

test("none that is made from it has it", () => {
  const inherited = Object.create(history) as History; // It has all members of one.
  for (const made of [{ ...history }, Object.assign({}, history), inherited])
    expect(newestFittingOf(made)).toBeUndefined();
});
