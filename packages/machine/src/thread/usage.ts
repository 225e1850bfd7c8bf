import type { Monoid } from "fp-ts/lib/Monoid.js";
import { frozen, type JsonObject } from "./plain-data.ts";

/**
 * The tokens and the cost of any number of calls. Each field keeps the known sum apart from the number of calls that
 * did not report it. So an unknown figure does not count as zero, and does not hide the known ones.
 */
export interface Usage {
  /** The number of model calls, including failed and cancelled attempts. */
  readonly calls: number;
  readonly inputTokens: Tally;
  readonly outputTokens: Tally;
  readonly totalTokens: Tally;
  /** Part of `inputTokens`. */
  readonly cacheReadTokens: Tally;
  /** Part of `inputTokens`. */
  readonly cacheWriteTokens: Tally;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: Tally;
  /** The number of calls with an unknown price. A call that used nothing (`usedNothing`) is not counted. */
  readonly unpriced: number;
  /** In billionths of the currency, by currency code. */
  readonly cost: { readonly [currency: string]: Tally };
}

export interface Tally {
  readonly sum: number;
  /** The number of calls that reported this field. */
  readonly reported: number;
  /** The number of calls that did not. */
  readonly unreported: number;
}

/** A provider's report of one call. An absent field is unknown, not zero. Non-negative integers. */
export interface ReportedUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** The provider's own report, for figures without a field above. */
  readonly provider?: JsonObject;
}

/**
 * The report of a call that used nothing, because a server refused it first. With zero in every field, the call does
 * not count as `unpriced`.
 */
export const usedNothing: ReportedUsage = frozen({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** A price: an integer number of billionths of `currency`. */
export interface Cost {
  readonly nano: number;
  readonly currency: string;
}

const noCost: Usage["cost"] = Object.freeze({});

const tally = (sum: number, reported: number, notReported: number): Tally =>
  Object.freeze({ sum, reported, unreported: notReported });

/** Returns the tally of calls of which none reported a field. Shared, since most calls report half of the fields. */
const unreportedBy = (calls: number): Tally => unreported[calls] ?? tally(0, 0, calls);

const unreported: readonly Tally[] = Array.from({ length: 64 }, (_, calls) => tally(0, 0, calls));

const nothing: Tally = unreportedBy(0);
const unreportedOnce: Tally = unreportedBy(1);

/** The usage of no call. */
export const noUsage: Usage = frozen({
  calls: 0,
  inputTokens: nothing,
  outputTokens: nothing,
  totalTokens: nothing,
  cacheReadTokens: nothing,
  cacheWriteTokens: nothing,
  reasoningTokens: nothing,
  unpriced: 0,
  cost: {},
});

/** Adds usage: associative, commutative, with `noUsage` as its unit. */
export const usageMonoid: Monoid<Usage> = frozen({ empty: noUsage, concat: (left, right) => addUsage(left, right) });

/**
 * Returns the usage of one call. Its total is the reported one, otherwise input plus output if both are known. A call
 * without any report counts as unreported in each field.
 */
export const usageOfCall = (reported: ReportedUsage | null, cost: Cost | null): Usage =>
  Object.freeze({
    calls: 1,
    inputTokens: tallyOf(reported?.inputTokens),
    outputTokens: tallyOf(reported?.outputTokens),
    totalTokens: tallyOf(reported?.totalTokens ?? sumOfKnown(reported)),
    cacheReadTokens: tallyOf(reported?.cacheReadTokens),
    cacheWriteTokens: tallyOf(reported?.cacheWriteTokens),
    reasoningTokens: tallyOf(reported?.reasoningTokens),
    unpriced: cost === null && !isNothing(reported) ? 1 : 0,
    cost: cost === null ? noCost : Object.freeze({ [cost.currency]: tallyOf(cost.nano) }),
  });

const isNothing = (reported: ReportedUsage | null): boolean =>
  reported !== null &&
  reported.inputTokens === 0 &&
  reported.outputTokens === 0 &&
  (reported.totalTokens ?? 0) === 0 &&
  reported.cacheReadTokens === 0 &&
  reported.cacheWriteTokens === 0 &&
  reported.reasoningTokens === 0;

const addUsage = (left: Usage, right: Usage): Usage => {
  if (left.calls === 0) return right;
  return right.calls === 0 ? left : addCalls(left, right);
};

// Each object is frozen when it is created: a reply creates dozens, and searching for unfrozen ones would cost more.
const addCalls = (left: Usage, right: Usage): Usage =>
  Object.freeze({
    calls: left.calls + right.calls,
    inputTokens: addTally(left.inputTokens, right.inputTokens),
    outputTokens: addTally(left.outputTokens, right.outputTokens),
    totalTokens: addTally(left.totalTokens, right.totalTokens),
    cacheReadTokens: addTally(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: addTally(left.cacheWriteTokens, right.cacheWriteTokens),
    reasoningTokens: addTally(left.reasoningTokens, right.reasoningTokens),
    unpriced: left.unpriced + right.unpriced,
    cost: Object.freeze(addCost(left, right)),
  });

const addTally = (left: Tally, right: Tally): Tally => {
  const sum = left.sum + right.sum;
  const reported = left.reported + right.reported;
  const calls = left.unreported + right.unreported;
  return sum === 0 && reported === 0 ? unreportedBy(calls) : tally(sum, reported, calls);
};

const addCost = (left: Usage, right: Usage): Usage["cost"] =>
  // Most calls have no price.
  right.cost === noCost
    ? left.cost
    : Object.keys(right.cost).reduce<Usage["cost"]>(
        (cost, currency) => ({ ...cost, [currency]: addTally(tallyIn(cost, currency), tallyIn(right.cost, currency)) }),
        left.cost,
      );

/** Currencies are data: one may have the name of a member that every object has. */
const tallyIn = (cost: Usage["cost"], currency: string): Tally =>
  (Object.hasOwn(cost, currency) ? cost[currency] : undefined) ?? nothing;

const tallyOf = (value: number | undefined): Tally => (value === undefined ? unreportedOnce : tally(value, 1, 0));

const sumOfKnown = (reported: ReportedUsage | null): number | undefined =>
  reported?.inputTokens === undefined || reported.outputTokens === undefined
    ? undefined
    : reported.inputTokens + reported.outputTokens;
