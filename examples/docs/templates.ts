// Renders prompts as one text, without a model: docs/templates.md shows it.
import { readFileSync } from "node:fs";
import { conversationMachine, promptOf, start, transition } from "@colloquy/machine";
import { tokenWindow } from "@colloquy/machine/policies";
import { answerFilter, promptFormat, renderThread, templateCounter } from "@colloquy/interchange/templates";

const format = promptFormat(JSON.parse(readFileSync(new URL("prompt-format.json", import.meta.url), "utf8")));

const counter = templateCounter(format, { name: "words", count: (text) => text.split(/\s+/u).length });
const machine = conversationMachine({ counter, policy: tokenWindow({ tokens: 30, reserve: 8 }) });

let { state } = start(machine, { threadId: "lesson", system: "Be gentle.", at: 0 });
const said = [
  { role: "user" as const, content: "Hello !" },
  { role: "assistant" as const, content: "Hi! How are you today ?" },
  { role: "user" as const, content: "I am fine, and I can't wait to learn mathematics!" },
];
for (const message of said)
  state = transition(machine, state, { type: "turn.added", messages: [message], at: 0 }).state;

const whole = renderThread(format, state);
const first = renderThread(format, state, { from: 1, to: 2, system: "Be strict.", addGenerationPrompt: false });
const next = format.render(promptOf(machine, state).messages); // what fits
for (const rendered of [whole, first, next]) console.log("left" in rendered ? rendered.left : rendered.right, "\n");

const answer = answerFilter(format);
const pieces = ["Teach", "er : Very ", "good! ", "\n\nChi", "ld : And"].map(answer.push);
console.log([...pieces, answer.end()]); // [ '', 'Very', ' good!', '', '', '' ]
