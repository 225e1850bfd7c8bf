// Summarises older turns in the background: docs/prompts.md shows it.
import { conversationMachine, messagesOf, promptOf, textOf } from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { compactTurns } from "@colloquy/machine/policies";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { ruleModel } from "@colloquy/runtime-test/models";

const clock = runningClock();
const model = ruleModel([
  { name: "asked for notes", when: ({ system }) => system !== "", answer: () => "Ada counts sheep." },
  { name: "asked by Ada", when: () => true, answer: () => "Good night, sheep. ".repeat(10) },
]);

const machine = conversationMachine({
  budget: { tokens: 400, reserve: 100 },
  policy: compactTurns({ keepTurns: 2, at: 0.7 }),
});
const host = createHost({
  machine,
  store: memoryStore({ clock }),
  llm: model,
  clock,
  ids: sequentialIds(),
  observers: [{ signal: (signal) => signal.type.startsWith("summary.") && console.log(signal) }],
});

for (let sheep = 1; sheep <= 6; sheep++) await host.ask(`Sheep number ${sheep}.`, { threadId: "night" });

const state = await host.thread("night").state();
if (state !== null) {
  const { messages } = promptOf(machine, state);
  console.log(messagesOf(state).length, "messages in the thread,", messages.length, "in the next prompt");
  console.log(messages.map(textOf)[0]);
}
await host.close();
