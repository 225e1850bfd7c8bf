// Answers questions, with memory: a signature makes the program, a session gives it turns. A metric scores the turns;
// good ones become training examples in JSON lines, each with the history that it saw.
import { predict, scoreOf, session } from "@colloquy/sessions";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { z } from "zod";

// Stands in for a real model, such as openaiChat({ model: "gpt-4o-mini" }).
const llm = scriptedModel(
  [
    { answer: "Paris", sure: true },
    { answer: "two million", sure: true },
    { answer: "the Rhine", sure: false },
    { answer: "the Seine", sure: true },
  ].map((outputs) => reply(JSON.stringify(outputs))),
);

const program = predict({
  inputs: z.object({ question: z.string(), context: z.string().optional() }),
  outputs: z.object({ answer: z.string(), sure: z.boolean() }),
  instructions: "Answer the question in a few words.",
});

const qa = session(program, {
  name: "qa",
  llm,
  maxTurns: 10, // earlier turns a call sees
  excludeFields: ["context"], // long, and of no use to later calls
});

// Each user has a thread: no other user sees Ada's questions.
const ada = qa.user("ada");
const { answer } = await ada.call({ question: "What is the capital of France?", context: "a long document" });
await ada.call({ question: "How many people live there?" });
console.log(answer, (await ada.memory()).exchanges.length);

// Undo loses nothing: the undone turn keeps its number, and redo() brings it back.
await ada.call({ question: "Which river runs through it?" });
await ada.undo();
await ada.call({ question: "Which river runs through it?" });
console.log((await ada.turns()).map(({ number, outputs }) => `${number}: ${outputs.answer}`));

// A metric scores each turn, here by a known right answer.
const right: Readonly<Record<string, string>> = {
  "What is the capital of France?": "Paris",
  "How many people live there?": "2.1 million",
  "Which river runs through it?": "the Seine",
};
await ada.score(({ inputs, outputs }, gold) => outputs.answer === gold?.[inputs.question], { gold: right });
console.log((await ada.turns()).map(scoreOf));

// JSON lines for an optimiser or a fine-tuning job. Omitted turns are listed with the reason.
const examples = await ada.examples({ minScore: 0.5 });
for (const { inputs, history, outputs } of examples)
  console.log(JSON.stringify({ ...inputs, history: history?.exchanges.length, ...outputs }));
console.log(examples.leftOut.map(({ turn, because }) => `turn ${turn}: ${because}`));
await qa.close();
