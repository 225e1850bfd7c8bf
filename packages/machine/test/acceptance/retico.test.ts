import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  lastTurnOf,
  type Message,
  promptOf,
  type SeedDraft,
  start,
  textOf,
} from "../../src/index.ts";
import { type Counter, estimateCounter, tokenWindow } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";

// Repeats the behaviour of retico's DialogueHistory, as observed. Its prompt is one text from a template, whose tokens
// are not the sum of its messages' tokens; a counter of prompts imitates this. The template, its stop patterns and its
// ranges (80 to 82) belong to the caller of such a model.

const speakers = { user: "Child", assistant: "Teacher" };

const inTemplate = (messages: readonly Message[]): string => {
  const system = messages
    .filter(({ role }) => role === "system")
    .map(textOf)
    .join("");
  const said = messages.flatMap((message) => {
    const { role } = message;
    return role === "user" || role === "assistant" ? [`${speakers[role]} : ${textOf(message)}\n\n`] : [];
  });
  return `[INST] <<SYS>>${system}<</SYS>>\n\n${said.join("")} [/INST]\n\n${speakers.assistant} : `;
};

const wordsOfTemplate: Counter = {
  ...estimateCounter,
  name: "words-of-template",
  countPrompt: (messages) => inTemplate(messages).split(/\s+/u).filter(Boolean).length,
};

const utterances = (...texts: readonly string[]): readonly SeedDraft[] =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content }));

const prompted = (tokens: number, system: string, seed: readonly SeedDraft[]) => {
  const budget = { tokens, reserve: 0 };
  const machine = conversationMachine({ policy: tokenWindow(), counter: wordsOfTemplate, budget });
  return promptOf(machine, start(machine, { threadId: "t", at: 0, system, seed }).state);
};

describe("retico's dialogue history", () => {
  test("77: without turns the prompt is the system message in its template", () => {
    expect(inTemplate(prompted(2_000, "Be gentle.", []).messages)).toBe(
      "[INST] <<SYS>>Be gentle.<</SYS>>\n\n [/INST]\n\nTeacher : ",
    );
  });

  test("78: three utterances stand in their order, and the agent is next", () => {
    const seed = utterances("Hello !", "Hi! How are you today ?", "Fine.");
    expect(inTemplate(prompted(2_000, "Be gentle.", seed).messages)).toBe(
      "[INST] <<SYS>>Be gentle.<</SYS>>\n\nChild : Hello !\n\nTeacher : Hi! How are you today ?\n\nChild : Fine.\n\n [/INST]\n\nTeacher : ",
    );
  });

  const five = utterances("w0 a b", "w1 a b", "w2 a b", "w3 a b", "w4 a b");

  test("79: of five utterances those are kept that fit into 20 tokens of the template: three of them, exactly 20", () => {
    const prompt = prompted(20, "Gently.", five);
    expect(prompt.messages.map(textOf)).toEqual(["Gently.", "w2 a b", "w3 a b", "w4 a b"]);
    expect(prompt).toMatchObject({ tokens: 20, available: 20, fits: true });
  });

  test.each([
    [30, ["w0 a b", "w1 a b", "w2 a b", "w3 a b", "w4 a b"]],
    [29, ["w2 a b", "w3 a b", "w4 a b"]],
    [19, ["w4 a b"]],
    [9, []],
  ])("79: and as many as fit into %i, so that it grows again with the context (theirs never does)", (tokens, kept) => {
    expect(prompted(tokens, "Gently.", five).messages.map(textOf)).toEqual(["Gently.", ...kept]);
  });

  test("79: room that is reserved for the answer is not filled (theirs reserves none)", () => {
    const machine = conversationMachine({
      policy: tokenWindow(),
      counter: wordsOfTemplate,
      budget: { tokens: 30, reserve: 10 },
    });
    const { state } = start(machine, { threadId: "t", at: 0, system: "Gently.", seed: five });
    expect(promptOf(machine, state).messages).toHaveLength(1 + 3);
  });

  test("83: a system prompt that takes more than there is ends the turn with the numbers, and asks for nothing (theirs fails an assertion)", () => {
    const system = "word ".repeat(30).trim();
    const budget = { tokens: 20, reserve: 4 };
    const talk = new CheckedTalk({ policy: tokenWindow(), counter: wordsOfTemplate, budget }, { system });
    talk.ask("Hello !");
    expect(talk.state.value).toBe("error");
    expect(talk.out()).toEqual([]);
    const expected = { tokens: 30 + 4 + 4, available: 16, budget: 20, reserve: 4 };
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 0, outcome: { status: "failed", unfit: expected } });
    expect(talk.signals().map(({ type }) => type)).toContain("context.unfit");
    talk.tell({ type: "system.changed", system: "Gently." });
    talk.ask("Hello !");
    expect(talk.sent()).toContain("Gently.");
  });
});
