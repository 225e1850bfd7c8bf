import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/index.ts";
import {
  clearResults,
  compactTurns,
  fitOversized,
  lastMessages,
  limitResults,
  type Policy,
  summariseTurns,
} from "../../../src/policies.ts";
import { preview } from "../../../src/thread/plain-data.ts";

describe("an option that a policy does not know", () => {
  // Only JavaScript may pass these options.
  const unchecked = (policy: unknown) => policy as (options?: unknown) => Policy;
  test.each<readonly [string, (options?: unknown) => Policy]>([
    ["clearResults", unchecked(clearResults)],
    ["compactTurns", unchecked(compactTurns)],
    ["fitOversized", unchecked(fitOversized)],
    ["lastMessages", unchecked(lastMessages)],
    ["summariseTurns", unchecked(summariseTurns)],
    ["limitResults", (options) => limitResults({ characters: 500, ...Object(options) })],
  ])("is refused by %s", (name, policy) => {
    expect(() => policy({ typo: 1 })).toThrow(ConfigurationError);
    expect(() => policy({ typo: 1 })).toThrow(`${name} has no option "typo"; there are `);
    expect(() => policy({ typo: undefined })).not.toThrow();
  });
});

test.each<readonly [unknown, string]>([
  ["3", '"3"'],
  [Number.NaN, "NaN"],
  [undefined, "undefined"],
  [{ tokens: Number.NaN }, '{"tokens":"NaN"}'],
  [() => 1, "a function"],
  [Promise.resolve(), "a promise"],
  [5n, "5"],
  [{ toJSON: () => undefined }, "an object"],
  [{ big: 5n }, "an object"],
  ["x".repeat(500), `"${"x".repeat(159)}…`],
])("%s is shown as %s", (value, shown) => {
  expect(preview(value)).toBe(shown);
});
