import { describe, expect, test } from "vitest";
import { ConfigurationError } from "../../../src/index.ts";
import {
  clearResults,
  compactTurns,
  fitOversized,
  lastMessages,
  lastTurns,
  limitResults,
  type Policy,
  summariseTurns,
  tokenWindow,
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

test.each<readonly [string, (least: number) => Policy, number]>([
  ["clearResults({ keep })", (keep) => clearResults({ keep }), 0],
  ["clearResults({ slack })", (slack) => clearResults({ slack }), 0],
  ["compactTurns({ keepTurns })", (keepTurns) => compactTurns({ keepTurns }), 0],
  ["compactTurns({ waitMs })", (waitMs) => compactTurns({ waitMs }), 0],
  ["compactTurns({ maxTokens })", (maxTokens) => compactTurns({ maxTokens }), 1],
  ["compactTurns({ requestTokens })", (requestTokens) => compactTurns({ requestTokens }), 1],
  ["summariseTurns({ maxTurns })", (maxTurns) => summariseTurns({ maxTurns, keepTurns: 0 }), 0],
  ["summariseTurns({ keepTurns })", (keepTurns) => summariseTurns({ keepTurns }), 0],
  ["lastTurns(count)", (count) => lastTurns(count), 0],
  ["lastTurns(count, { slack })", (slack) => lastTurns(1, { slack }), 0],
  ["lastMessages({ max })", (max) => lastMessages({ max, keepRecent: 0 }), 0],
  ["lastMessages({ keepRecent })", (keepRecent) => lastMessages({ max: 9, keepRecent }), 0],
  ["limitResults({ characters })", (characters) => limitResults({ characters }), 200],
  ["tokenWindow({ tokens })", (tokens) => tokenWindow({ tokens }), 0],
  ["tokenWindow({ reserve })", (reserve) => tokenWindow({ reserve }), 0],
])("%s takes its least value, and refuses a lower one", (_, policy, least) => {
  expect(() => policy(least)).not.toThrow();
  expect(() => policy(least - 1)).toThrow(`a whole number of ${least} or more`);
});

test.each<readonly [string, (share: number) => Policy, readonly boolean[]]>([
  ["compactTurns({ at })", (at) => compactTurns({ at }), [false, true, true, false]],
  ["tokenWindow({ cutTo })", (cutTo) => tokenWindow({ cutTo }), [false, false, true, false]],
])("%s takes a share of the room", (_, policy, taken) => {
  const isTaken = (share: number): boolean => {
    try {
      return policy(share).name !== "";
    } catch (thrown) {
      return !(thrown instanceof ConfigurationError);
    }
  };
  expect([-0.1, 0, 1, 1.1].map(isTaken)).toEqual(taken);
});

test("a mark has room for the name of a tool of 64 characters", () => {
  const named = (length: number) => limitResults({ characters: 200, rule: "reference", tool: "t".repeat(length) });
  expect(() => named(64)).not.toThrow();
  expect(() => named(65)).toThrow("a mark has room for 64 characters of it");
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
