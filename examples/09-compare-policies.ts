// Tries another policy on recorded conversations: what it would send, save and lose, before it costs a token. As a
// command: `colloquy compare recordings/ --before today.ts --after tomorrow.ts`.
import { clearResults, compose, lastTurns } from "@colloquy/machine/policies";
import { comparePrompts, comparisonTable, type NamedJournal } from "@colloquy/machine/inspect";
import type { MachineOptions } from "@colloquy/machine";
import { decodeJournal } from "@colloquy/machine/journal";
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { reply, ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const lookUp = tool({
  name: "look_up",
  description: "Looks up a word.",
  input: z.object({ word: z.string() }),
  run: ({ word }) => `${word}: ${"something that is longer than the question. ".repeat(8)}`,
});

/** Stands in for a real model: looks a word up, then answers. */
const llm = ruleModel([
  {
    name: "looks it up",
    when: ({ messages }) => messages.at(-1)?.role === "user",
    answer: ({ messages }) => toolCalls([{ name: "look_up", arguments: { word: `word ${messages.length}` } }]),
  },
  { name: "answers", when: () => true, answer: () => reply("It is something longer than the question.") },
]);

const store = memoryStore();

/** Records a conversation of `questions` questions. */
const record = async (name: string, questions: number): Promise<NamedJournal> => {
  const host = createHost({ llm, store, tools: [lookUp] });
  for (let question = 1; question <= questions; question++) {
    await host.ask(`What does word ${question} mean?`, { threadId: name });
  }
  await host.close();
  const journal = decodeJournal(await store.read(name));
  if ("left" in journal) throw new Error(journal.left.reason);
  return { name, entries: journal.right };
};

const journals = [await record("a short one", 2), await record("a long one", 12)];

const compare = (title: string, before: MachineOptions, after: MachineOptions): void => {
  const comparison = comparePrompts(journals, before, after);
  console.log(`# ${title}\n\n${comparisonTable(comparison)}\n`);
  if (comparison.after.broken.length > 0) process.exitCode = 1;
};

// A window that moves with every turn sends less, but misses the prompt cache every time.
compare("all, or the last 3 turns", {}, { policy: lastTurns(3) });
compare("the last 3 turns, or 3 to 7 of them", { policy: lastTurns(3) }, { policy: lastTurns(3, { slack: 4 }) });
compare(
  "the last 3 turns, or all with older results cleared",
  { policy: lastTurns(3) },
  { policy: compose(clearResults({ keep: 2, slack: 4, when: "always" })) },
);

await store.close();
