import { ConfigurationError } from "@colloquy/machine";
import { expect, it } from "vitest";
import { importDataset, linearise, pairsOf, toTrl } from "../../../src/datasets/index.ts";

it.each<[string, (options: never) => unknown, object, string]>([
  ["linearise", (options) => linearise([], options), { per: "steps" }, 'per must be "turn" or "step" (got "steps")'],
  ["linearise", (options) => linearise([], options), { turns: "any" }, 'turns must be "kept" or "all" (got "any")'],
  ["pairsOf", (options) => pairsOf([], options), { prefer: "best" }, 'prefer must be "score" or "kept" (got "best")'],
  ["pairsOf", (options) => pairsOf([], options), { wich: "all" }, 'has no option "wich"; there are prefer, which'],
  [
    "toTrl",
    (options) => toTrl([], options),
    { as: "text" },
    'as must be "promptCompletion" or "messages" (got "text")',
  ],
  [
    "importDataset",
    (options) => importDataset("", options),
    { from: "csv" },
    'from must be "sft" or "dpo" or "trl" (got "csv")',
  ],
  ["importDataset", (options) => importDataset("", options), {}, 'needs the option "from", and it is missing'],
])("%s refuses options that mean nothing, in words: %#", (of, call, options, words) => {
  // As a caller in JavaScript may give them.
  const calling = () => call(options as never);
  expect(calling).toThrow(ConfigurationError);
  expect(calling).toThrow(words);
  expect(calling).toThrow(of);
});
