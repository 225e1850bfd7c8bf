import { checkPolicyLaws } from "@colloquy/runtime-test/laws";
import { expect, it } from "vitest";
import { z } from "zod";
import type { AnyOptions } from "../../src/threads/options.ts";
import { policyOf } from "../../src/threads/options.ts";
import { session } from "../../src/index.ts";
import { asked, seeing } from "../programs.ts";
import { spread } from "../../../../test/runs.ts";

const optionsOfSessions: readonly Partial<AnyOptions>[] = [
  {},
  { maxTurns: 0 },
  { maxTurns: 2, excludeFields: ["documents"] },
  { maxStoredTurns: 3, maxTurns: 5, onlyInputFields: ["question"] },
  { compression: "concise", maxTurns: 3, excludeFields: ["documents"], onlyInputFields: ["question"] },
  { compression: { instruction: "In one word." } },
];

it.each(spread(optionsOfSessions, 3))("the prompts of a session keep the laws of pruning: %j", (options) => {
  const { conversations } = checkPolicyLaws(policyOf({ name: "qa", ...options }), { runs: 8, seed: 11 });
  expect(conversations).toBe(8);
});

it("a field that the signature does not have can't be kept out by mistake", () => {
  const signature = {
    inputs: z.object({ q: z.string(), context: z.string() }),
    outputs: z.object({ a: z.string() }),
  };
  const made = (options: object) => () => session(({ q }) => ({ a: q }), { name: "qa", signature, ...options });
  expect(made({ excludeFields: ["contxt"] })).toThrow(
    'session: excludeFields names "contxt", and the signature has no such field; it has q, context, a',
  );
  expect(made({ onlyInputFields: ["question"] })).toThrow('onlyInputFields names "question"');
  expect(made({ excludeFields: ["context", "a"], onlyInputFields: ["q"] })).not.toThrow();
  // A schema that accepts other fields does not restrict names, and neither does one whose fields are not known.
  const outputs = z.object({ a: z.string() }).transform(({ a }) => ({ b: a }));
  expect(made({ excludeFields: ["b"], signature: { ...signature, outputs } })).not.toThrow();
  expect(
    made({ excludeFields: ["more"], signature: { ...signature, inputs: z.looseObject({ q: z.string() }) } }),
  ).not.toThrow();
});

it.each([
  { excludeFields: ["q"], inputs: {}, outputs: { a: "A" }, text: "[Turn 1] Answered: a: A" },
  { excludeFields: ["a"], inputs: { q: "Q1" }, outputs: {}, text: "[Turn 1] Asked: q: Q1" },
  { onlyInputFields: ["context"], inputs: {}, outputs: { a: "A" }, text: "[Turn 1] Answered: a: A" },
])("memory shows only the fields that the options leave: $text", async ({ inputs, outputs, text, ...options }) => {
  const { qa, seen } = seeing(options);
  await asked(qa, 1, 2);
  expect(seen[1]?.exchanges).toMatchObject([{ turn: 1, inputs, outputs }]);
  expect(seen[1]?.text).toBe(text);
});
