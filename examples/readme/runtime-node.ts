import { createHost, filesStore, openaiChat } from "@colloquy/runtime-node";

const store = filesStore({ folder: "threads" });
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store, system: "Be short." });

const asked = host.ask("What is a queue?", { threadId: "ada" });
for await (const part of asked) if (part.type === "text.delta") process.stdout.write(part.text);
await asked; // throws if it failed
console.log();
await host.close();
await store.close();
