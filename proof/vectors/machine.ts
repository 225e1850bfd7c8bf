import {
  conversationMachine,
  type ConversationMachine,
  type JsonObject,
  type MachineOptions,
  type Pricing,
} from "@colloquy/machine";
import { configurationOfMachine } from "@colloquy/machine/hosting";
import {
  clearResults,
  compactTurns,
  compose,
  fitOversized,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
  tokenWindow,
  pricesPerMillion,
} from "@colloquy/machine/policies";

import type { ConfiguredMachine, MachineData, Named } from "./vector.ts";

/** Makes the machine that a vector describes. @throws Error if its policy, counter or pricing is not shipped */
export const machineOf = (data: MachineData): ConversationMachine => {
  const { policy, counter, pricing, ...options } = data;
  if (counter !== undefined && identified(counter) !== "estimate@1")
    throw new Error(`there is no ${identified(counter)}`);
  return conversationMachine({
    ...options,
    policy: policyOf(policy),
    ...(pricing === undefined ? {} : { pricing: pricingOf(pricing) }),
  });
};

/** Returns a machine's options as JSON, with its defaults. */
export const dataOf = (options: MachineOptions): MachineData => {
  const { policy = keepAll(), counter: _, pricing, budget, ...others } = options;
  return {
    tools: [],
    overlap: { type: "reject" },
    model: {},
    interrupted: "keep",
    unknownTool: "result",
    ...others,
    limits: { steps: 50, ...options.limits },
    retry: { ...defaultRetry, ...options.retry },
    policy: named(policy),
    ...(budget == null ? {} : { budget, counter: { name: "estimate", version: 1, options: {} } }),
    ...(pricing === undefined ? {} : { pricing: named(pricing) }),
  };
};

/** Returns a vector's machine, with the configuration that a journal keeps. */
export const configured = (data: MachineData): ConfiguredMachine => ({
  ...data,
  configuration: configurationOfMachine(machineOf(data)),
});

const defaultRetry: MachineOptions["retry"] = {
  attempts: 3,
  baseDelayMs: 500,
  maxDelayMs: 30_000,
  maxRetryAfterMs: 120_000,
  kinds: ["rate_limit", "overloaded", "timeout", "network", "truncated", "unknown"],
};

const named = ({ name, version, options }: Named): Named => ({ name, version, options });

const identified = ({ name, version }: Named): string => `${name}@${version}`;

/** Makes a policy by its constructor, from the options that made it. */
const policyOf = ({ name, version, options }: Named): Policy => {
  const made = makers[name]?.(options);
  if (made === undefined || made.version !== version) throw new Error(`there is no policy ${name}@${version}`);
  return made;
};

// Each constructor checks its input, and so rejects invalid options.
const makers: Readonly<Record<string, (options: JsonObject) => Policy>> = {
  "keep-all": () => keepAll(),
  "last-turns": ({ count, ...options }) => lastTurns(Number(count), options),
  "last-messages": (options) => lastMessages(options),
  "token-window": ({ tokens, ...options }) =>
    tokenWindow({ ...(tokens === null ? {} : { tokens: Number(tokens) }), ...options }),
  "clear-results": (options) => clearResults(options),
  "limit-results": (options) => limitResults(options as never),
  "fit-oversized": (options) => fitOversized(options),
  "omit-fields": ({ names }) => omitFields(names as readonly string[]),
  "only-inputs": ({ names }) => onlyInputs(names as readonly string[]),
  "compact-turns": (options) => compactTurns(options),
  "summarise-turns": (options) => summariseTurns(options),
  compose: ({ policies }) => compose(...(policies as unknown as readonly Named[]).map(policyOf)),
};

const pricingOf = ({ name, options }: Named): Pricing => {
  if (name !== "per-million") throw new Error(`there is no pricing ${name}`);
  // Its constructor checks the options, as those of policies do.
  return pricesPerMillion(options["currency"] as string, options["models"] as never);
};
