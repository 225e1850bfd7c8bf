import { fileURLToPath } from "node:url";
import { mcpTools } from "@colloquy/runtime-node/mcp";
import { createHost, memoryStore, openaiChat } from "@colloquy/runtime-node";

// The protocol's reference server. Start others with `{ command: "npx", args: ["-y", "…"] }`, or give a `url`.
const script = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
const server = await mcpTools({ transport: { command: process.execPath, args: [script, "stdio"] }, name: "demo" });
console.log(server.tools.map(({ declaration }) => declaration.name).join(", "));

const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store: memoryStore(), tools: server.tools });
console.log((await host.ask("What is 2 + 3?")).text);
await host.close();
await server.close();
