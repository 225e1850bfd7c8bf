import type { Monoid } from "fp-ts/lib/Monoid.js";
import { frozen } from "./frozen.ts";
import type { JsonObject } from "./json.ts";

/**
 * The tokens and the cost of any number of calls. Each field keeps what is known apart from how many
 * calls did not report, so an unknown figure neither counts as zero nor swallows the known ones.
 */
export interface Usage {
  /** Model calls, failed and cancelled attempts included. */
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
  /** Calls whose price is not known. One that used nothing (`usedNothing`) is none of them. */
  readonly unpriced: number;
  /** In billionths of the currency, by currency code. */
  readonly cost: { readonly [currency: string]: Tally };
}

export interface Tally {
  readonly sum: number;
  /** Calls that reported this field. */
  readonly reported: number;
  /** Calls that did not. */
  readonly unreported: number;
}

/** What a provider reported of one call. An absent field is unknown, not zero. Non-negative integers. */
export interface ReportedUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
  /** The provider's own report, for what the fields above do not say. */
  readonly provider?: JsonObject;
}

/**
 * The report of a call that used nothing: a server refused it before it did anything. Zero in every field also says that it has
 * no price to be known: such a call is not `unpriced`.
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

const nothing: Tally = { sum: 0, reported: 0, unreported: 0 };

/** Usage of no call at all. */
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

/** Usage adds up: associative, commutative, with `noUsage` as its unit. */
export const usageMonoid: Monoid<Usage> = frozen({ empty: noUsage, concat: (left, right) => addUsage(left, right) });

/**
 * The usage of one call. Its total is the reported one, else input plus output when both are known.
 * A call without any report counts as unreported in each field.
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

// Frozen as it is made: each reply makes dozens of these, and a look for what is not frozen would cost more.
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

const addTally = (left: Tally, right: Tally): Tally =>
  Object.freeze({
    sum: left.sum + right.sum,
    reported: left.reported + right.reported,
    unreported: left.unreported + right.unreported,
  });

const addCost = (left: Usage, right: Usage): Usage["cost"] =>
  Object.keys(right.cost).reduce<Usage["cost"]>(
    (cost, currency) => ({ ...cost, [currency]: addTally(tallyIn(cost, currency), tallyIn(right.cost, currency)) }),
    left.cost,
  );

/** Currencies are data: one may be called like a member that every object has. */
const tallyIn = (cost: Usage["cost"], currency: string): Tally =>
  (Object.hasOwn(cost, currency) ? cost[currency] : undefined) ?? nothing;

const one: Tally = frozen({ sum: 0, reported: 0, unreported: 1 });

const tallyOf = (value: number | undefined): Tally =>
  value === undefined ? one : Object.freeze({ sum: value, reported: 1, unreported: 0 });

const sumOfKnown = (reported: ReportedUsage | null): number | undefined =>
  reported?.inputTokens === undefined || reported.outputTokens === undefined
    ? undefined
    : reported.inputTokens + reported.outputTokens;
