import { describe, expect, test } from "vitest";
import { ConfigurationError, type Message } from "../../../src/index.ts";
import { omitFields } from "../../../src/prompt/policies/omit-fields.ts";
import { onlyInputs } from "../../../src/prompt/policies/only-inputs.ts";
import { decidesAgain } from "./budgeted-arbitrary.ts";
import { inputOf, type MadeUp, saidFields, shownBy } from "./made-up-history.ts";

const exchange = (turn: number): readonly Message[] => [
  saidFields(`${turn}.0`, "user", { question: "q", documents: "d" }),
  saidFields(`${turn}.1`, "assistant", { answer: "a", reasoning: "r" }),
];

const made: MadeUp = {
  seed: exchange(0),
  turns: [{ number: 1, messages: exchange(1) }],
  open: exchange(2).slice(0, 1),
};

const shown = (policy: ReturnType<typeof omitFields>): readonly string[] =>
  shownBy(made, policy.decide(inputOf(made))).map(
    ({ id, parts }) => `${id} ${parts.map((part) => (part.type === "data" ? part.field : part.type)).join(" ")}`,
  );

describe("omitFields", () => {
  test("leaves fields out of turns that have ended, the seed included", () => {
    expect(shown(omitFields(["documents", "reasoning"]))).toEqual([
      "0.0 question",
      "0.1 answer",
      "1.0 question",
      "1.1 answer",
      "2.0 question documents",
    ]);
  });

  test("of no names it leaves out nothing, and is stable then", () => {
    expect(omitFields([]).decide(inputOf(made))).toEqual({ from: null, reason: "no field is left out" });
    expect([omitFields([]).stable, omitFields(["documents"]).stable]).toEqual([true, false]);
    expect(omitFields(["documents"]).monotone).toBe(true);
  });
});

describe("onlyInputs", () => {
  test("shows only these fields of users, and all of the answers", () => {
    expect(shown(onlyInputs(["question"]))).toEqual([
      "0.0 question",
      "0.1 answer reasoning",
      "1.0 question",
      "1.1 answer reasoning",
      "2.0 question documents",
    ]);
  });

  test("without names it shows none", () => {
    expect(shown(onlyInputs([]))).toEqual(["0.1 answer reasoning", "1.1 answer reasoning", "2.0 question documents"]);
    expect(onlyInputs([]).options).toEqual({ names: [] });
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
