// A question answerer with memory: a signature makes the program, a session gives it turns. The turns are scored, and those
// that are good become training examples, with what each of them saw, as JSON lines.
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
  maxTurns: 10, // that a call sees
  excludeFields: ["context"], // long, and of no use to later calls
});

// Each user has a thread: what Ada asked, no other user sees.
const ada = qa.user("ada");
const { answer } = await ada.call({ question: "What is the capital of France?", context: "a long document" });
await ada.call({ question: "How many people live there?" });
console.log(answer, (await ada.memory()).exchanges.length);

// Nothing is lost by going back: the turn that was taken back keeps its number, and is there for redo().
await ada.call({ question: "Which river runs through it?" });
await ada.undo();
await ada.call({ question: "Which river runs through it?" });
console.log((await ada.turns()).map(({ number, outputs }) => `${number}: ${outputs.answer}`));

// A metric judges each turn, here by what is known to be right.
const right: Readonly<Record<string, string>> = {
  "What is the capital of France?": "Paris",
  "How many people live there?": "2.1 million",
  "Which river runs through it?": "the Seine",
};
await ada.score(({ inputs, outputs }, gold) => outputs.answer === gold?.[inputs.question], { gold: right });
console.log((await ada.turns()).map(scoreOf));

// As JSON lines, for an optimiser or a fine-tuning job; what is left out is listed, with the reason.
const examples = await ada.examples({ minScore: 0.5 });
for (const { inputs, history, outputs } of examples)
  console.log(JSON.stringify({ ...inputs, history: history?.exchanges.length, ...outputs }));
console.log(examples.leftOut.map(({ turn, because }) => `turn ${turn}: ${because}`));
await qa.close();
