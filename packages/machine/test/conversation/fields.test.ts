import { describe, expect, test } from "vitest";
import { type ContentPart, lastTurnOf, type Message, toArray } from "../../src/index.ts";
import { compose, omitFields, onlyInputs, type Policy } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";

// dspy-session calls these exclude_fields and history_input_fields.

const data = (field: string): ContentPart => ({ type: "data", field, value: `the ${field}` });

const fieldsIn = (messages: readonly Message[]): readonly (readonly string[])[] =>
  messages.map(({ parts }) => parts.flatMap((part) => (part.type === "data" ? [part.field] : [])));

/** One turn of a question with its context, and a second question that is out. */
const asked = (policy: Policy): CheckedTalk => {
  const talk = new CheckedTalk({ policy });
  talk.tell({ type: "ask.received", askId: "1", input: [data("question"), data("context")] });
  talk.reply({ content: [data("answer"), data("rationale")] });
  talk.tell({ type: "ask.received", askId: "2", input: [data("question"), data("context")] });
  return talk;
};

describe("fields in later prompts", () => {
  test("a field that is left out is in no later prompt, and still in the turn", () => {
    const talk = asked(omitFields(["context", "rationale"]));
    expect(fieldsIn(talk.call().messages)).toEqual([["question"], ["answer"], ["question", "context"]]);
    const turn = lastTurnOf(talk.state);
    expect(fieldsIn(turn === undefined ? [] : toArray(turn.messages))).toEqual([
      ["question", "context"],
      ["answer", "rationale"],
    ]);
    talk.replays();
  });

  test("only some inputs are shown, and all outputs", () => {
    expect(fieldsIn(asked(onlyInputs(["question"])).call().messages)).toEqual([
      ["question"],
      ["answer", "rationale"],
      ["question", "context"],
    ]);
  });

  test("leaving out beats selecting, in either order", () => {
    const parts = [omitFields(["question"]), onlyInputs(["question", "context"])];
    for (const policy of [compose(...parts), compose(...parts.toReversed())]) {
      expect(fieldsIn(asked(policy).call().messages)).toEqual([
        ["context"],
        ["answer", "rationale"],
        ["question", "context"],
      ]);
    }
  });

  test("no inputs at all: an empty list is one, and survives storing", () => {
    const talk = asked(onlyInputs([]));
    expect(fieldsIn(talk.call().messages)).toEqual([
      ["answer", "rationale"],
      ["question", "context"],
    ]);
    expect(talk.state.context.cut?.fields).toEqual({ inputs: [] });
    talk.replays();
  });
});
