import type { Counter } from "../prompt/counter.ts";
import type { Policy, Summariser } from "../prompt/policy.ts";
import { frozenCopy } from "../thread/frozen.ts";
import type { Pricing } from "./options.ts";

// A machine keeps the functions that it was given, and nothing that their giver or a policy could put others into: what a
// fingerprint was made of stays what decides.

/** The policy as it is now. */
export const ownedPolicy = (policy: Policy): Policy => {
  const { name, version, options, monotone, stable, summariser } = policy;
  return Object.freeze({
    name,
    version,
    options: frozenCopy(options),
    monotone,
    stable,
    decide: policy.decide.bind(policy),
    ...(summariser === undefined ? {} : { summariser: ownedSummariser(summariser) }),
  });
};

/** The counter as it is now. */
export const ownedCounter = (counter: Counter): Counter => {
  const { name, version, options, perMessage, perPrompt } = counter;
  return Object.freeze({
    name,
    version,
    options: frozenCopy(options),
    countPart: counter.countPart.bind(counter),
    perMessage,
    perPrompt,
    ...(counter.countPrompt === undefined ? {} : { countPrompt: counter.countPrompt.bind(counter) }),
  });
};

/** The pricing as it is now. */
export const ownedPricing = (pricing: Pricing): Pricing => {
  const { name, version, options } = pricing;
  return Object.freeze({ name, version, options: frozenCopy(options), price: pricing.price.bind(pricing) });
};

const ownedSummariser = (summariser: Summariser): Summariser => {
  const { instruction, model, maxTokens, requestTokens, waitMs } = summariser;
  return Object.freeze({
    instruction,
    model: frozenCopy(model),
    maxTokens,
    ...(requestTokens === undefined ? {} : { requestTokens }),
    ...(waitMs === undefined ? {} : { waitMs }),
    next: summariser.next.bind(summariser),
  });
};
