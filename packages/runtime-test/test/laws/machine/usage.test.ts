import { type Cost, type ReportedUsage, type Usage, usageMonoid, usageOfCall } from "@colloquy/machine";
import { reportedUsageArbitrary } from "@colloquy/runtime-test/arbitraries";
import { LawBroken, type UsageSubject, usageAddsUp } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../runs.ts";

const cost: fc.Arbitrary<Cost> = fc.record({
  nano: fc.nat({ max: 1_000_000 }),
  currency: fc.constantFrom("USD", "EUR", "__proto__", "toString"),
});
const calls = fc.array(fc.record({ usage: fc.option(reportedUsageArbitrary), cost: fc.option(cost) }), {
  maxLength: 6,
});

const check = (subject?: UsageSubject) =>
  fc.check(
    fc.property(calls, (reported) => usageAddsUp(reported, subject)),
    { numRuns: runs(300) },
  );

test("M8: usage is a commutative monoid, and adds up to what the calls reported", () => {
  fc.assert(
    fc.property(calls, (reported) => usageAddsUp(reported)),
    { numRuns: runs(300) },
  );
});

const wrong: readonly (readonly [string, Partial<UsageSubject>])[] = [
  [
    "an unknown figure counts as 0",
    { usageOfCall: (usage, price) => usageOfCall({ inputTokens: 0, outputTokens: 0, ...usage }, price) },
  ],
  [
    "a call without a report is no call",
    { usageOfCall: (usage, price) => (usage === null ? usageMonoid.empty : usageOfCall(usage, price)) },
  ],
  ["an unknown figure swallows the known ones", { monoid: { ...usageMonoid, concat: swallowing } }],
  ["one currency is as good as another", { usageOfCall: (usage, price) => usageOfCall(usage, inDollars(price)) }],
  ["the total is always input plus output", { usageOfCall: (usage, price) => usageOfCall(withoutTotal(usage), price) }],
  ["empty is no unit", { monoid: { ...usageMonoid, empty: usageOfCall(null, null) } }],
];

test.each(wrong)("M8 catches usage where %s", (_, parts) => {
  const found = check({ monoid: usageMonoid, usageOfCall, ...parts });
  expect(found.errorInstance).toBeInstanceOf(LawBroken);
});

function swallowing(left: Usage, right: Usage): Usage {
  const sum = usageMonoid.concat(left, right);
  const { outputTokens } = sum;
  return { ...sum, outputTokens: outputTokens.unreported > 0 ? { ...outputTokens, sum: 0 } : outputTokens };
}

function inDollars(price: Cost | null): Cost | null {
  return price === null ? null : { ...price, currency: "USD" };
}

function withoutTotal(usage: ReportedUsage | null): ReportedUsage | null {
  if (usage === null) return null;
  const { totalTokens: _, ...others } = usage;
  return others;
}
