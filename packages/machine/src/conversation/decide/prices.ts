import { ConfigurationError } from "../../prompt/configuration-error.ts";
import { problemOfKeys } from "../../prompt/policies/check-options.ts";
import { preview, frozenCopy } from "../../thread/plain-data.ts";
import type { ReportedUsage } from "../../thread/usage.ts";
import type { Pricing } from "./options.ts";

/** The price of a million tokens of a model, in units of the currency (dollars, not cents). */
export type ModelPrice = {
  readonly input: number;
  readonly output: number;
  /** For input that was read from the provider's cache. Default: as `input`. */
  readonly cachedInput?: number;
  /** For input that was written to the provider's cache. Default: as `input`. */
  readonly cacheWrite?: number;
};

/**
 * Creates a pricing from a table of prices by model, as providers publish them: `pricesPerMillion("USD", { "gpt-5.4":
 * { input: 1.25, output: 10 } })`. A model is found by its name, even if its reply appends a date
 * (`gpt-5.4-2026-03-05`). A call has no price if its model is not in the table, or if the provider did not report
 * input and output. Unreported cache tokens count as 0.
 *
 * @throws ConfigurationError for a price that is not a number ≥ 0.
 */
export const pricesPerMillion = (currency: string, models: Readonly<Record<string, ModelPrice>>): Pricing => {
  const problem = problemOf(currency, models);
  if (problem !== null) throw new ConfigurationError(problem);
  const prices = frozenCopy(models);
  return {
    name: "per-million",
    version: 1,
    options: { currency, models: prices },
    price: (usage, model) => {
      const price = model === null ? undefined : priceIn(prices, model);
      const nano = price === undefined ? null : nanoOf(price, usage);
      return nano === null ? null : { nano, currency };
    },
  };
};

const nanoOf = (price: ModelPrice, usage: ReportedUsage): number | null => {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return null;
  const { input, output, cachedInput = input, cacheWrite = input } = price;
  const plain = Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens);
  const perMillion =
    plain * input + cacheReadTokens * cachedInput + cacheWriteTokens * cacheWrite + outputTokens * output;
  return Math.round(perMillion * nanoPerMillionth);
};

/** Converts a price for a million tokens to nano-units a token: a currency unit has a billion nano-units. */
const nanoPerMillionth = 1000;

const priceIn = (prices: Readonly<Record<string, ModelPrice>>, model: string): ModelPrice | undefined => {
  const name = Object.hasOwn(prices, model) ? model : model.replace(dateBehind, "");
  return Object.hasOwn(prices, name) ? prices[name] : undefined;
};

const dateBehind = /[-@]\d{4}-?\d{2}-?\d{2}$/;

const problemOf = (currency: string, models: Readonly<Record<string, ModelPrice>>): string | null => {
  if (typeof currency !== "string" || currency === "")
    return `the currency of the prices is ${preview(currency)}; it must be a code such as "USD"`;
  if (typeof models !== "object" || models === null)
    return `the prices are ${preview(models)}; they must be an object from models to prices`;
  for (const [model, price] of Object.entries(models)) {
    const of = `the price of ${JSON.stringify(model)}`;
    if (typeof price !== "object" || price === null) return `${of} is ${preview(price)}; it needs input and output`;
    const unknown = problemOfKeys(of, price, rates);
    if (unknown !== null) return unknown;
    for (const rate of rates) {
      const value: unknown = price[rate];
      if (value === undefined && rate !== "input" && rate !== "output") continue;
      if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
        return `${of} has ${rate} ${preview(value)}; it must be a number of 0 or more: what a million tokens cost`;
    }
  }
  return null;
};

const rates = ["input", "output", "cachedInput", "cacheWrite"] as const;
