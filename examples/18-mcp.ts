// Gives a host the tools of an MCP server, here of the protocol's reference server.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { mcpTools } from "@colloquy/runtime-node/mcp";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json");
const script = join(dirname(manifest), "dist/index.js");

const server = await mcpTools({
  // Or { url: "https://…/mcp", headers: { authorization: `Bearer ${key}` } }
  transport: { command: process.execPath, args: [script, "stdio"] },
  name: "demo",
  // A person approves each call, except those to tools that you know to change nothing.
  approval: ({ name }) => !["get-sum", "get-structured-content"].includes(name),
});

// A script in place of a model: two calls, of which one fails, and an answer.
const llm = scriptedModel([
  toolCalls([
    { name: "demo_get-sum", arguments: { a: 2, b: 3 } },
    { name: "demo_get-structured-content", arguments: { location: "Atlantis" } },
  ]),
  reply("2 + 3 is 5, and I can't say what the weather is like in Atlantis."),
]);

const host = createHost({ llm, store: memoryStore(), tools: server.tools });
const { text, messages } = await host.ask("What is 2 + 3, and the weather in Atlantis?");

for (const { parts } of messages)
  for (const part of parts)
    if (part.type === "toolResult")
      console.log(part.name, part.outcome, part.content[0]?.type === "text" ? part.content[0].text.slice(0, 60) : "");
console.log(text);

await host.close();
await server.close();
