// A long tool result: prompts show its beginning, and a tool reads the rest. docs/tools.md shows it.
import { createHost, resultReader, sqliteStore, tool } from "@colloquy/runtime-node";
import { limitResults, textOfResult } from "@colloquy/machine/policies";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";

const book = tool({
  name: "book",
  description: "Gives a whole book.",
  input: { jsonSchema: { type: "object" } },
  run: () => `${"It was a dark and stormy night. ".repeat(20)}The butler did it.`,
});

const model = scriptedModel([
  toolCalls([{ name: "book", arguments: {} }]),
  toolCalls([{ name: "read_result", arguments: { callId: "1.1.0", from: 620 } }]),
  reply("The butler did it."),
]);
const host = createHost({
  llm: model,
  store: sqliteStore({ path: ":memory:" }),
  tools: [book, resultReader({ characters: 400 })],
  machine: { policy: limitResults({ characters: 400, rule: "reference", tool: "read_result" }) },
});

const shortly = (text: string): string => text.replace(/(?<=^.{31}).*\n/u, " ");

await host.ask("Who did it?", { threadId: "crime" });
for (const { messages } of model.calls.slice(1)) {
  const last = messages.at(-1)?.parts[0];
  if (last?.type === "toolResult") console.log(`${last.name} gives ${shortly(textOfResult(last))}`);
}
await host.close();
