// Why did it forget? Lists which messages are in the next prompt, at what cost, and which rule left out the others.
import { conversationMachine } from "@colloquy/machine";
import { clearResults, compose, tokenWindow } from "@colloquy/machine/policies";
import { explain, explanationTable, figuresOf } from "@colloquy/machine/inspect";
import { createHost, declarationsOf, memoryStore, systemClock, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const read = tool({
  name: "read",
  description: "Reads a page of the handbook.",
  input: z.object({ page: z.int() }),
  run: ({ page }) => `Page ${page}. ${"A window that was opened is closed in the evening. ".repeat(6)}`,
});

// First clears all tool results but the newest, as far as needed to fit; then leaves out older turns.
const machine = conversationMachine({
  tools: declarationsOf([read]),
  policy: compose(clearResults({ keep: 1 }), tokenWindow()),
  budget: { tokens: 275, reserve: 80 },
});

const llm = scriptedModel([
  reply("Welcome, Ada."),
  toolCalls([{ name: "read", arguments: { page: 1 } }]),
  reply("Page 1 is about windows."),
  toolCalls([{ name: "read", arguments: { page: 2 } }]),
  reply("Page 2 is, too."),
  reply("You are Ada."),
]);

const store = memoryStore();
const host = createHost({
  machine,
  store,
  llm,
  tools: [read],
  system: "You know the handbook.",
});
const thread = host.thread("ada");
await thread.ask("I am Ada, and new here.");
// Her name must stay: a pinned message is in every prompt.
await thread.send({ type: "message.pinned", at: systemClock.now(), message: "1.0", pinned: true });
for (const question of ["What is on page 1?", "And on page 2?", "Who am I?"]) await thread.ask(question);

const state = await thread.state();
if (state === null) throw new Error("the thread is not there");
console.log(explanationTable(explain(machine, state)));

const { turns, tokens, share } = figuresOf(machine, state);
console.log(`\nof ${turns.total} turns ${turns.whole} are whole and ${turns.partly} are in part in the next prompt`);
console.log(`it takes ${tokens} tokens, ${Math.round((share ?? 0) * 100)} % of the room`);

await host.close();
await store.close();
