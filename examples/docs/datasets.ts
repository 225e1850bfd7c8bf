// Turns conversations into rows for fine-tuning, and rows into threads: docs/datasets.md shows it.
import { datasetReport, importDataset, jsonLines, linearise, pairsOf, toDpo, toSft } from "@colloquy/sessions/datasets";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { gptCounter } from "@colloquy/interchange/tokens";

const clock = runningClock();
const store = memoryStore({ clock });
const host = createHost({
  store,
  llm: scriptedModel([reply("It is a line."), reply("A line that is served from the front.")]),
  system: "Explain words.",
  clock,
  ids: sequentialIds(),
});
const thread = host.thread("ada");

// The same question twice, on two branches, and a score for each answer.
await thread.ask("What is a queue?");
await thread.annotate(1, "score", 0.2);
await thread.undo();
await thread.ask("What is a queue?");
await thread.annotate(2, "score", 0.9);

const journals = [{ name: "ada", entries: await thread.exportJournal() }];
const linearised = linearise(journals, { minScore: 0.5, counter: await gptCounter({ model: "gpt-4o" }) });
const dataset = toSft(linearised.examples);
console.log(jsonLines(dataset.rows));
for (const line of datasetReport({ linearised, dataset })) console.log(line);

const branches = linearise(journals, { turns: "all" });
const { pairs, leftOut } = pairsOf(branches.examples);
const preferences = toDpo(pairs);
console.log(jsonLines(preferences.rows));
for (const line of datasetReport({ linearised: branches, dataset: preferences, pairs: leftOut })) console.log(line);

const { threads, problems } = importDataset(jsonLines(preferences.rows), { from: "dpo" });
for (const { entries } of threads) await host.importJournal(entries);
console.log(threads.length, problems.length, (await host.thread("line-1").state())?.context.conversation.turns.length);
await host.close();
