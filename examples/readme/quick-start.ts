import { createHost, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { openaiChat, randomIds, systemClock } from "@colloquy/runtime-node";

const host = createHost({
  machine: conversationMachine(),
  store: memoryStore({ clock: systemClock }), // sqliteStore({ path: "threads.db" }) keeps it
  llm: openaiChat({ model: "gpt-4o-mini" }), // reads OPENAI_API_KEY and OPENAI_BASE_URL
  clock: systemClock,
  ids: randomIds,
});

await host.ask("My name is Ada.");
const { text } = await host.ask("What is my name?");
console.log(text);
await host.close();
