import { describe, expect, test } from "vitest";
import { messagesOf, type Part, textOf, turnsOf } from "../../src/index.ts";
import { compose, lastTurns, omitFields, onlyInputs, type Policy } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";

// Repeats dspy-session's own tests about prompts. If this machine answers otherwise, the test's name says so. Its turns
// (85, 88, 90, 101) are in threads.test.ts; those that need a host (91, 92, 96 to 100, 102)are in the host's acceptance
// tests.

const inputs = (question: string): readonly Extract<Part, { type: "data" }>[] => [
  { type: "data", field: "question", value: question },
  { type: "data", field: "context", value: ["a long document"] },
];

const fieldsShown = (talk: CheckedTalk): readonly (readonly string[])[] =>
  talk.call().messages.map(({ parts }) => parts.flatMap((part) => (part.type === "data" ? part.field : [])));

const asked = (talk: CheckedTalk, question: string): void => {
  talk.tell({ type: "ask.received", askId: question, input: inputs(question) });
};

describe("dspy-session", () => {
  test.each<readonly [string, Policy]>([
    ["left out", omitFields(["context"])],
    ["not among the inputs", onlyInputs(["question"])],
    [
      "among the inputs and left out: that is stronger",
      compose(onlyInputs(["question", "context"]), omitFields(["context"])),
    ],
    ["left out and among the inputs", compose(omitFields(["context"]), onlyInputs(["question", "context"]))],
  ])("86: a field that is %s is in no later prompt, and still in its turn", (_, policy) => {
    const talk = new CheckedTalk({ policy });
    asked(talk, "Q1");
    expect(fieldsShown(talk)).toEqual([["question", "context"]]);
    talk.reply({ content: [{ type: "data", field: "answer", value: "A" }] });
    asked(talk, "Q2");
    expect(fieldsShown(talk)).toEqual([["question"], ["answer"], ["question", "context"]]);
    expect(messagesOf(talk.state)[0]?.parts).toEqual(inputs("Q1"));
  });

  test("87: of five turns with two shown all five are stored, and the prompt has the last two", () => {
    const talk = new CheckedTalk({ policy: lastTurns(2) });
    for (const number of [0, 1, 2, 3, 4]) talk.say(`Q${number}`, "A");
    expect(turnsOf(talk.state)).toHaveLength(5);
    talk.ask("Q5");
    expect(talk.sent()).toEqual(["Q3", "A", "Q4", "A", "Q5"]);
  });

  test("87: what the first turn was sent stays what it was, whatever comes later", () => {
    const talk = new CheckedTalk({ policy: lastTurns(3) });
    talk.ask("Q0");
    const { messages, promptDigest } = talk.call();
    const before = messages.map(textOf);
    talk.reply("A", { promptDigest });
    for (let number = 1; number < 10; number++) talk.say(`Q${number}`, "A");
    expect(messages.map(textOf)).toEqual(before);
    // The digest that the outcome echoed is compared with the prompt as it comes about again.
    talk.replays();
  });

  test("89: a seed is in the first prompt, and stays when the turns are cleared", () => {
    const talk = new CheckedTalk(
      {},
      {
        seed: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: "Hello!" },
        ],
      },
    );
    talk.ask("One");
    expect(talk.sent()).toEqual(["Hi", "Hello!", "One"]);
    talk.reply("1");
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("Two");
    expect(talk.sent()).toEqual(["Hi", "Hello!", "Two"]);
  });
});
