import type { Counter } from "../../prompt/counter.ts";
import type { Policy, Summariser } from "../../prompt/policy.ts";
import { frozenCopy } from "../../thread/frozen.ts";
import type { Pricing } from "./options.ts";

// A machine keeps the functions that it was given. It copies every object whose members the caller or a policy could
// later replace. So the functions that decide are those that the fingerprint describes.

/** Copies the policy. */
export const ownedPolicy = (policy: Policy): Policy => {
  const { summariser } = policy;
  return Object.freeze({
    ...policy,
    ...identityOf(policy),
    decide: policy.decide.bind(policy),
    ...(summariser === undefined ? {} : { summariser: ownedSummariser(summariser) }),
  });
};

/** Copies the counter. */
export const ownedCounter = (counter: Counter): Counter => {
  const { perMessage, perPrompt } = counter;
  return Object.freeze({
    ...counter,
    ...identityOf(counter),
    countPart: counter.countPart.bind(counter),
    perMessage,
    perPrompt,
    ...(counter.countPrompt === undefined ? {} : { countPrompt: counter.countPrompt.bind(counter) }),
  });
};

/** Copies the pricing. */
export const ownedPricing = (pricing: Pricing): Pricing =>
  Object.freeze({ ...pricing, ...identityOf(pricing), price: pricing.price.bind(pricing) });

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

/** Copies the members by name, because an instance of a class may have them on its prototype. */
const identityOf = ({ name, version, options }: Pick<Policy, "name" | "version" | "options">) => ({
  name,
  version,
  options: frozenCopy(options),
});
