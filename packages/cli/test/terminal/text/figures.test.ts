import { noUsage, usageMonoid, usageOfCall } from "@colloquy/machine";
import { expect, test } from "vitest";
import { costOf, counted, durationOf, tokensOf } from "../../../src/terminal/text/figures.ts";

test.each([
  [0, "0 steps"],
  [1, "1 step"],
  [999, "999 steps"],
  [1000, "1.0k steps"],
  [2149, "2.1k steps"],
  [999_949, "999.9k steps"],
  [999_950, "1.0M steps"],
])("%d steps are written as %s", (count, written) => {
  expect(counted(count, "step")).toBe(written);
});

test.each([
  [-5, "0 ms"],
  [99, "99 ms"],
  [100, "0.1 s"],
  [1540, "1.5 s"],
  [59_949, "59.9 s"],
  [59_950, "1 min 0 s"],
  [125_000, "2 min 5 s"],
])("%d ms are written as %s", (durationMs, written) => {
  expect(durationOf(durationMs)).toBe(written);
});

test("costs are told in units of their currency", () => {
  const call = (nano: number, currency: string) => usageOfCall({ totalTokens: 1 }, { nano, currency });
  const unpriced = usageOfCall({ totalTokens: 1 }, null);
  expect(costOf(noUsage)).toBe("");
  expect(costOf(unpriced)).toBe("");
  expect(costOf(call(12_345_678, "USD"))).toBe("0.0123 USD");
  expect(costOf(call(1, "USD"))).toBe("0.000000001 USD");
  expect(costOf(call(0, "USD"))).toBe("0 USD");
  expect(costOf(call(1_234_500_000_000, "EUR"))).toBe("1234.50 EUR");
  expect(costOf(usageMonoid.concat(call(5e8, "EUR"), unpriced))).toBe("≥ 0.5 EUR");
  expect(costOf(usageMonoid.concat(call(5e8, "EUR"), call(1e9, "US\u001BD")))).toBe("0.5 EUR + 1.00 US␛D");
});

test("tokens that nobody reported are not zero", () => {
  const known = usageOfCall({ totalTokens: 2100 }, null);
  const unknown = usageOfCall(null, null);
  expect(tokensOf(noUsage)).toBe("0 tokens");
  expect(tokensOf(known)).toBe("2.1k tokens");
  expect(tokensOf(unknown)).toBe("? tokens");
  expect(tokensOf(usageMonoid.concat(known, unknown))).toBe("≥ 2.1k tokens");
});
