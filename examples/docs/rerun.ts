// Asks recorded questions again, under another system prompt and policy: docs/datasets.md shows it.
import { rerun, rerunTable } from "@colloquy/sessions/datasets";
import { decodeJournal } from "@colloquy/machine/journal";
import { lastTurns } from "@colloquy/machine/policies";
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  input: z.object({ city: z.string(), days: z.number().optional() }),
  run: ({ city }) => (city === "Oslo" ? "clear" : "wet"),
});

const cityIn = (question: string): string => (question.includes("Oslo") ? "Oslo" : "Bergen");

/** Stands in for the first model. */
const wordy = ruleModel([
  {
    name: "looks it up",
    when: ({ last }) => last?.role === "user",
    answer: ({ lastUserText }) => toolCalls([{ name: "weather", arguments: { city: cityIn(lastUserText) } }]),
  },
  {
    name: "says it",
    when: () => true,
    answer: ({ last, lastUserText }) => `It is ${last?.text ?? ""} in ${cityIn(lastUserText)}.`,
  },
]);

/** Stands in for another model. */
const terse = ruleModel([
  {
    name: "looks it up",
    when: ({ last }) => last?.role === "user",
    answer: ({ lastUserText }) => {
      const city = cityIn(lastUserText);
      return toolCalls([{ name: "weather", arguments: city === "Oslo" ? { city } : { city, days: 1 } }]);
    },
  },
  { name: "says it", when: () => true, answer: ({ last }) => last?.text ?? "" },
]);

const clock = runningClock();
const store = memoryStore({ clock });
const host = createHost({ store, llm: wordy, tools: [weather], clock, ids: sequentialIds() });
await host.ask("How is the weather in Oslo?", { threadId: "ada" });
await host.ask("And in Bergen?", { threadId: "ada" });
await host.close();

const journal = decodeJournal(await store.read("ada"));
if ("left" in journal) throw new Error(journal.left.reason);
const journals = [{ name: "ada", entries: journal.right }];

const report = await rerun(journals, {
  llm: terse,
  clock,
  system: "Answer in one word.",
  machine: { tools: [weather.declaration], policy: lastTurns(2) },
  metric: ({ answer }) => answer.split(" ").length === 1,
});
console.log(rerunTable(report));
