// An agent from a YAML file, with a subagent from a Markdown file that has a tool. The models here answer by rules;
// openaiChat() calls the models that the files name. As a command: colloquy chat --agent librarian.yaml --allow-tools
import { fileURLToPath } from "node:url";
import { agentFromFile, agentHost } from "@colloquy/sessions/agents";
import { memoryStore } from "@colloquy/runtime-node";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";

const bookIn = (text: string): string => /Emma|Ulysses/.exec(text)?.[0] ?? "a book";

const llm = ruleModel([
  {
    name: "the archivist has looked it up",
    when: ({ system, last }) => system.includes("shelves of a library. Look") && last?.toolResult !== undefined,
    answer: ({ last, messages }) => {
      const questions = messages.filter(({ role }) => role === "user").length;
      return `${last?.text} (question ${questions} that I remember)`;
    },
  },
  {
    name: "the archivist looks it up",
    when: ({ system }) => system.includes("shelves of a library. Look"),
    answer: ({ lastUserText }) => toolCalls([{ name: "shelf", arguments: { book: bookIn(lastUserText) } }]),
  },
  { name: "a summary", when: ({ system }) => !system.includes("readers"), answer: () => "A reader asked for a book." },
  {
    name: "the librarian has asked",
    when: ({ toolResults }) => toolResults.length > 0,
    answer: ({ toolResults }) => `It stands on ${toolResults[0]?.text}.`,
  },
  {
    name: "the librarian asks",
    when: () => true,
    answer: ({ lastUserText }) => toolCalls([{ name: "archivist", arguments: { message: lastUserText } }]),
  },
]);

const agent = await agentFromFile(fileURLToPath(new URL("librarian.yaml", import.meta.url)), {
  allowTools: ({ path }) => path.endsWith("/shelves.ts"), // loading a module runs its code
});
const store = memoryStore();
const host = agentHost(agent, { llm, store });
const thread = host.thread("ada");

console.log((await thread.ask("Where is Emma?")).text);
console.log((await thread.ask("And Ulysses?")).text);
await thread.undo();
// The archivist's memory returns with the thread that asks it.
console.log((await thread.ask("Where is Ulysses?")).text);

for (const { name, threadId, turn, usage } of await host.calls("ada"))
  console.log(`${name}: turn ${turn} of ${threadId}, ${usage.totalTokens.sum} tokens`);

await host.close();
await store.close();
