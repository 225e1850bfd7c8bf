import { describe, expect, test } from "vitest";
import { ConfigurationError, type Message } from "../../../src/index.ts";
import { omitFields } from "../../../src/prompt/policies/omit-fields.ts";
import { onlyInputs } from "../../../src/prompt/policies/only-inputs.ts";
import { decidesAgain } from "./budgeted-arbitrary.ts";
import { inputOf, type MadeUp, saidFields } from "./made-up-history.ts";

const exchange = (turn: number): readonly Message[] => [
  saidFields(`${turn}.0`, "user", { question: "q", documents: "d" }),
  saidFields(`${turn}.1`, "assistant", { answer: "a", reasoning: "r" }),
];

const made: MadeUp = {
  seed: exchange(0),
  turns: [{ number: 1, messages: exchange(1) }],
  open: exchange(2).slice(0, 1),
};

describe("omitFields", () => {
  test("of no names it leaves out nothing, and is stable then", () => {
    expect(omitFields([]).decide(inputOf(made))).toEqual({ from: null, reason: "no field is left out" });
    expect([omitFields([]).stable, omitFields(["documents"]).stable]).toEqual([true, false]);
    expect(omitFields(["documents"]).monotone).toBe(true);
  });
});

test.each([
  ["none", []],
  ["question", ["question"]],
  ["question, documents", ["question", "documents"]],
])("onlyInputs gives as the reason that only these inputs are shown: %s", (listed, names) => {
  expect(onlyInputs(names).decide(inputOf(made))).toEqual({
    from: null,
    fields: { inputs: names },
    reason: `of the inputs of earlier turns only these are shown: ${listed}`,
  });
});

describe.each([
  ["omitFields", omitFields],
  ["onlyInputs", onlyInputs],
])("%s", (name, policy) => {
  test("decides the same after its own cut", () => {
    const [first, again] = decidesAgain(policy(["documents"]), made);
    expect(again).toEqual(first);
  });

  test("keeps its names if the list changes", () => {
    const names = ["documents"];
    const { options, decide } = policy(names);
    const before = decide(inputOf(made));
    names.push("question");
    expect(options).toEqual({ names: ["documents"] });
    expect(decide(inputOf(made))).toEqual(before);
  });

  test("refuses an invalid list of names", () => {
    expect(() => policy(["documents", ""])).toThrow(ConfigurationError);
    // JavaScript may pass any of these.
    for (const names of ["documents", undefined, [1]] as unknown as readonly (readonly string[])[]) {
      expect(() => policy(names)).toThrow(`${name}(names)`);
    }
  });
});
