// Asks that call tools of a server with hostile schemas, beside an ask without calls. The test of this name runs it.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { mcpTools } from "../../src/mcp/index.ts";
import { rawServer } from "./raw-server.ts";

const inputSchema = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } };
const { open } = rawServer({ list: () => ({ tools: [{ name: "work", inputSchema }] }) });
const server = await mcpTools({ transport: open });
const llm = ruleModel([
  { name: "other", when: ({ lastUserText }) => lastUserText === "another", answer: () => reply("answered") },
  { name: "told", when: ({ last }) => last?.role === "tool", answer: ({ toolResults }) => `${toolResults[0]?.text}` },
  {
    name: "call",
    when: () => true,
    answer: () => toolCalls([{ name: "work", arguments: { a: `${"a".repeat(100)}!` } }]),
  },
]);
const host = createHost({ llm, store: memoryStore(), tools: server.tools });
const [hostile, other] = await Promise.all([host.ask("go", { threadId: "a" }), host.ask("another", { threadId: "b" })]);
console.log(`hostile: ${/expected[^.]*/.exec(hostile.text)?.[0]}`);
console.log(`another: ${other.text}`);
await host.close();
await server.close();
