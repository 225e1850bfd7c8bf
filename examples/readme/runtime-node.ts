import { createHost, filesStore, openaiChat } from "@colloquy/runtime-node";

const store = filesStore({ folder: "threads" });
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store, system: "Be short." });

for await (const part of host.ask("What is a queue?", { threadId: "ada" }))
  if (part.type === "text.delta") process.stdout.write(part.text);
console.log();
await host.close();
await store.close();
