import { frozen } from "../thread/plain-data.ts";
import type { Cost, Usage } from "../thread/usage.ts";

/** The cost of calls, for a person or a bill. */
export interface CostReading {
  /** By currency, in its units (dollars, not nano-units). Empty if no price is known. */
  readonly amounts: readonly { readonly currency: string; readonly amount: number; readonly calls: number }[];
  /** The number of calls without a known price; the amounts do not include them. */
  readonly unknownCalls: number;
  /**
   * The same as text: `0.0123 USD`, `0.0123 USD, unknown for 2 of 5 calls`, `unknown`, or `nothing` if there was no
   * call.
   */
  readonly text: string;
}

/**
 * Reads the cost of a call (its `cost`, undefined if it has none), of a turn or of a thread (its usage). Amounts are
 * in units of the currency.
 */
export const readCost = (cost: Usage | Cost | undefined): CostReading => {
  if (cost === undefined) return frozen({ amounts: [], unknownCalls: 1, text: "unknown" });
  if ("nano" in cost) {
    const amount = { currency: cost.currency, amount: cost.nano / nanoPerUnit, calls: 1 };
    return frozen({ amounts: [amount], unknownCalls: 0, text: inWords(cost.nano, cost.currency) });
  }
  const sums = Object.entries(cost.cost).map(([currency, { sum, reported }]) => ({ currency, sum, reported }));
  return frozen({
    amounts: sums.map(({ currency, sum, reported }) => ({ currency, amount: sum / nanoPerUnit, calls: reported })),
    unknownCalls: cost.unpriced,
    text: textOf(
      sums.map(({ currency, sum }) => inWords(sum, currency)),
      cost,
    ),
  });
};

const nanoPerUnit = 1_000_000_000;

const textOf = (amounts: readonly string[], { calls, unpriced }: Usage): string => {
  if (amounts.length === 0) return unpriced === 0 ? "nothing" : "unknown";
  const known = amounts.join(" + ");
  return unpriced === 0 ? known : `${known}, unknown for ${unpriced} of ${calls} ${calls === 1 ? "call" : "calls"}`;
};

/** Formats an amount exactly, with at least two decimals. */
const inWords = (nano: number, currency: string): string => {
  const digits = String(Math.round(nano)).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "").padEnd(2, "0");
  return `${digits.slice(0, -9)}.${fraction} ${currency}`;
};
