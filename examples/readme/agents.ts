import { writeFileSync } from "node:fs";
import { agentFromFile, agentHost } from "@colloquy/sessions/agents";
import { memoryStore, openaiChat } from "@colloquy/runtime-node";

const librarian = `
version: 1
name: librarian
description: Answers questions about books.
model: gpt-4o-mini
instructions: You help the readers of a library.
`;
writeFileSync("librarian.yaml", librarian);

const agent = await agentFromFile("librarian.yaml");
const host = agentHost(agent, { llm: openaiChat({ model: "gpt-4o-mini" }), store: memoryStore() });
console.log((await host.ask("Who wrote Emma?")).text);
await host.close();
