// Shows a server that changes its list, and one that dies, for docs/mcp.md.
import { mcpTools } from "@colloquy/runtime-node/mcp";
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const handler = createMcpHandler(() => {
  const served = new McpServer({ name: "shelves", version: "1" });
  served.registerTool("shelf.find", { inputSchema: z.object({ book: z.string() }) }, ({ book }) => ({
    content: [{ type: "text", text: `${book}: shelf 7` }],
  }));
  return served;
});

const url = "http://localhost/mcp";
const fetch = (input: string | URL | Request, init?: RequestInit) => handler.fetch(new Request(input, init));
const store = memoryStore();
const llm = scriptedModel([
  toolCalls([{ name: "library_shelf_find", arguments: { book: "Emma" } }]),
  reply("Shelf 7."),
  reply("Yes."),
]);
const clock = tool({ name: "clock", description: "The time.", input: z.object({}), run: () => "noon" });

const server = await mcpTools({ transport: { url, fetch }, name: "library" });
let host = createHost({ llm, store, tools: [clock, ...server.tools] });
console.log((await host.ask("Where is Emma?")).text);

// Later, after the server's list changed, another host continues the same threads.
await server.refresh();
await host.close();
host = createHost({ llm, store, tools: [clock, ...server.tools] });
console.log((await host.ask("Still there?")).text);
await host.close();
await server.close();
