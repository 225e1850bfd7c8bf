import { ConfigurationError } from "@colloquy/machine";
import { expect, it } from "vitest";
import { importDataset, linearise, pairsOf, toTrl } from "../../src/index.ts";

it.each<[string, (options: never) => unknown, object, string]>([
  ["linearise", (options) => linearise([], options), { per: "steps" }, 'per is "steps"; it must be "turn" or "step"'],
  ["linearise", (options) => linearise([], options), { turns: "any" }, 'turns is "any"; it must be "kept" or "all"'],
  ["pairsOf", (options) => pairsOf([], options), { prefer: "best" }, 'prefer is "best"; it must be "score" or "kept"'],
  ["pairsOf", (options) => pairsOf([], options), { wich: "all" }, 'has no option "wich"; there are prefer, which'],
  [
    "toTrl",
    (options) => toTrl([], options),
    { as: "text" },
    'as is "text"; it must be "promptCompletion" or "messages"',
  ],
  ["importDataset", (options) => importDataset("", options), { from: "csv" }, 'from is "csv"; it must be "sft" or'],
  ["importDataset", (options) => importDataset("", options), {}, 'needs the option "from", and it is missing'],
])("%s refuses options that mean nothing, in words: %#", (of, call, options, words) => {
  // As a caller in JavaScript may give them.
  const calling = () => call(options as never);
  expect(calling).toThrow(ConfigurationError);
  expect(calling).toThrow(words);
  expect(calling).toThrow(of);
});
