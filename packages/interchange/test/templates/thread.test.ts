import {
  conversationMachine,
  type ConversationMachine,
  lastTurnOf,
  promptOf,
  start,
  type State,
  transition,
} from "@colloquy/machine";
import { tokenWindow } from "@colloquy/machine/policies";
import { expect, test } from "vitest";
import { promptFormat, renderThread, templateCounter } from "../../src/templates/index.ts";
import { reticoConfig } from "./conversations.ts";

const format = promptFormat(reticoConfig);
const words = { name: "words", count: (text: string) => text.split(/\s+/u).filter((word) => word !== "").length };
const counter = templateCounter(format, words);

const machineOf = (tokens: number, reserve = 0): ConversationMachine =>
  conversationMachine({ policy: tokenWindow({ tokens, reserve }), counter });

/** Returns a thread with each text in its own turn. */
const said = (machine: ConversationMachine, system: string, ...texts: readonly string[]): State =>
  texts.reduce(
    (state, content, index) => {
      const messages = [{ role: index % 2 === 0 ? ("user" as const) : ("assistant" as const), content }];
      return transition(machine, state, { type: "turn.added", at: 0, messages }).state;
    },
    start(machine, { threadId: "t", system, at: 0 }).state,
  );

const five = ["w0 a b", "w1 a b", "w2 a b", "w3 a b", "w4 a b"];
const right = (value: string): object => ({ _tag: "Right", right: value });

test("a prompt of exactly the bound fits, one token less cuts the oldest question and its answer (case 79)", () => {
  const promptIn = (tokens: number, reserve?: number) => {
    const machine = machineOf(tokens, reserve);
    const { messages, ...prompt } = promptOf(machine, said(machine, "S", ...five));
    return { ...prompt, text: format.render(messages) };
  };
  const text =
    "[INST] <<SYS>>S<</SYS>>\n\nChild : w2 a b\n\nTeacher : w3 a b\n\nChild : w4 a b\n\n [/INST]\n\nTeacher : ";
  expect(promptIn(20)).toMatchObject({ fits: true, tokens: 20, text: right(text) });
  // Without its question, the teacher's answer would begin the prompt.
  expect(promptIn(19)).toMatchObject({ fits: true, tokens: 10 });
  expect(promptIn(24)).toMatchObject({ fits: true, tokens: 20 });
  expect(promptIn(30)).toMatchObject({ fits: true, tokens: 30 });
  // The prompt cannot use room that is reserved for the answer.
  expect(promptIn(30, 10)).toMatchObject({ fits: true, tokens: 20, text: right(text) });
});

test("a system prompt that is too big by itself fails the ask, with the numbers (case 83)", () => {
  const machine = conversationMachine({ policy: tokenWindow(), counter, budget: { tokens: 6, reserve: 1 } });
  const begun = start(machine, { threadId: "t", system: "one two three four five", at: 0 });
  const asked = transition(machine, begun.state, { type: "ask.received", at: 0, askId: "a", input: "Hello !" });
  expect(lastTurnOf(asked.state)?.outcome).toMatchObject({
    status: "failed",
    unfit: { tokens: 13, available: 5 },
  });
});

test("a thread is rendered whole, or by a range of its turns", () => {
  const state = said(machineOf(1000), "S", ...five);
  const rendered = (texts: string, system = "S"): object =>
    right(`[INST] <<SYS>>${system}<</SYS>>\n\n${texts} [/INST]\n\nTeacher : `);
  expect(renderThread(format, state)).toEqual(
    rendered("Child : w0 a b\n\nTeacher : w1 a b\n\nChild : w2 a b\n\nTeacher : w3 a b\n\nChild : w4 a b\n\n"),
  );
  expect(renderThread(format, state, { from: 2, to: 3 })).toEqual(rendered("Teacher : w1 a b\n\nChild : w2 a b\n\n"));
  expect(renderThread(format, state, { from: 5, system: "OVR" })).toEqual(rendered("Child : w4 a b\n\n", "OVR"));
  expect(renderThread(format, state, { to: 1 })).toEqual(rendered("Child : w0 a b\n\n"));
});

test("the whole thread has what stood before the first turn, and the turn that is open", () => {
  const machine = machineOf(1000);
  const seed = [{ role: "user" as const, content: "before" }];
  const begun = start(machine, { threadId: "t", at: 0, seed });
  const asked = transition(machine, begun.state, { type: "ask.received", at: 0, askId: "a", input: "now" });
  expect(renderThread(format, asked.state, { addGenerationPrompt: false })).toEqual(
    right("[INST] Child : before\n\nChild : now\n\n [/INST]"),
  );
});

test("what can't be rendered is counted by its texts", () => {
  const [message] = [{ id: "1.0", role: "user" as const, digest: "", parts: [{ type: "image" as const, url: "u" }] }];
  expect(counter.countPrompt?.([message])).toBe(1);
});

test("the counter is known by its template and its tokenizer", () => {
  expect(counter).toMatchObject({
    name: "template",
    version: 1,
    // The template writes what is around a message and a prompt.
    perMessage: 0,
    perPrompt: 0,
    options: {
      template: { name: "prompt-format", version: 1, options: { user: { role: "Child" } } },
      tokenizer: "words",
    },
  });
  expect(JSON.stringify(counter.options)).not.toContain("interruption");
});
