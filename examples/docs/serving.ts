// Serves threads over HTTP to OpenAI's own client. docs/server.md shows it.
import { once } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { ruleModel, toolCalls } from "@colloquy/runtime-test/models";
import { threadServer } from "@colloquy/server";
import OpenAI from "openai";

const llm = ruleModel([
  {
    name: "seat",
    when: ({ lastUserText }) => lastUserText.includes("sit"),
    answer: () => toolCalls([{ name: "pick_seat", arguments: { row: 12 } }]),
  },
  { name: "else", when: () => true, answer: ({ messages }) => `I have read ${messages.length} messages.` },
]);

const host = createHost({ llm, store: memoryStore() });
const server = threadServer(host, {
  // Returns the user of a request: here, by one of these keys.
  authenticate: ({ headers }) => users.get(headers.get("authorization") ?? ""),
  threadPrefix: ({ id }) => `${id}_`, // no user's id has a `_`
  mayUse: ({ id }, threadId) => threadId.startsWith(`${id}_`),
});
const users = new Map([["Bearer key-of-ada", { id: "ada" }]]);

const listener = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
const sockets = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1");
await once(sockets, "listening");

const address = sockets.address();
const port = typeof address === "object" ? address?.port : 0;
const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "key-of-ada" });

const { id: conversation } = await client.conversations.create({ metadata: { topic: "travel" } });
const first = await client.responses.create({ conversation, input: "Hello" });
const second = await client.responses.create({ conversation, input: "And now?" });
console.log(second.output_text);

// The same place again makes another branch; the conversation stays where it is.
const other = await client.responses.create({ previous_response_id: first.id, input: "Or so?" });
console.log(other.output_text);

const stream = await client.responses.create({
  conversation,
  input: "Where do I sit?",
  stream: true,
  tools: [{ type: "function", name: "pick_seat", parameters: { type: "object" }, strict: false }],
});
for await (const event of stream) if (event.type === "response.output_item.done") console.log(event.item.type);

const items = await client.conversations.items.list(conversation, { limit: 2 });
console.log(items.data.map(({ type }) => type).join(", "), items.has_more);

await server.close();
sockets.close();
sockets.closeAllConnections();
await host.close();
