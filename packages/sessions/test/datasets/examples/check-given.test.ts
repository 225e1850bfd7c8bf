import { ConfigurationError } from "@colloquy/machine";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { expect, it } from "vitest";
import {
  importDataset,
  linearise,
  pairsOf,
  toDpo,
  toSft,
  toTrl,
  toTrlPreferences,
} from "../../../src/datasets/index.ts";
import { stage } from "../stage.ts";

const { host, journal: journalOf } = stage(scriptedModel([reply("Hello")]));
await host.thread("t").ask("Hi");
const journal = await journalOf("t");
const { entries } = journal;
const linearised = linearise([journal]);
const { examples } = linearised;
const paired = pairsOf(examples);

it.each<[string, (given: never) => unknown, unknown, string]>([
  ["linearise", linearise, journal, "takes a list of journals, [{ name, entries }], and was given one without a list"],
  ["linearise", linearise, entries, "and was given the entries of one; give them a name: [{ name, entries }]"],
  ["linearise", linearise, [journal, entries], "and number 1 of the list is the entries of one, without a name"],
  ["linearise", linearise, [null], "and number 0 of the list is null"],
  ["linearise", linearise, Promise.resolve([]), "and was given a promise; await it first"],
  ["linearise", linearise, "t", "and was given of type string"],
  ["linearise", linearise, undefined, "and was given undefined"],
  ["linearise", linearise, [{ name: "t" }], "and number 0 of the list is an object of name"],
  ["linearise", linearise, [journal, { seq: 0 }], "and was given the entries of one; give them a name"],
  ["toSft", toSft, [...examples, {}], "it was given a list whose number 1 is an object of nothing"],
  ["toSft", toSft, [7], "it was given a list whose number 0 is of type number"],
  ["toSft", toSft, [[]], "it was given a list whose number 0 is a list"],
  ["toSft", toSft, [{ chosen: 1, rejected: 2 }], "it was given a list of pairs"],
  [
    "pairsOf",
    pairsOf,
    linearised,
    "takes a list of examples: `examples` of what linearise gives; it was given an object",
  ],
  ["toSft", toSft, linearised, "takes a list of examples: `examples` of what linearise gives; it was given an object"],
  ["toTrl", toTrl, [journal], "it was given a list whose number 0 is an object of name, entries"],
  ["toDpo", toDpo, examples, "takes a list of pairs: `pairs` of what pairsOf gives; it was given a list of examples"],
  ["toTrlPreferences", toTrlPreferences, paired, "it was given an object of pairs, leftOut"],
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
])("%s names the argument or the option that it takes, where it is given another: %#", (of, call, given, words) => {
  // Cast: a caller in JavaScript may pass it.
  const calling = () => call(given as never);
  expect(examples).not.toEqual([]);
  expect(calling).toThrow(ConfigurationError);
  expect(calling).toThrow(words);
  expect(calling).toThrow(of);
});
