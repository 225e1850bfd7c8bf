// A chat backend on Node's own server, for a page with `useChat`. In place of OpenAI a model answers that follows a script,
// and this program asks in place of the page.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";
import { createHost, openaiChat, sqliteStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { uiChat } from "@colloquy/server";

const openai = await loopbackServer({ model: scriptedModel([reply("A line of people.")]) });

const store = sqliteStore({ path: process.env["THREADS"] ?? ":memory:" });
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini", apiKey: "none", baseURL: openai.url }), store });
const { GET, POST } = uiChat(host, {
  path: "/api/chat",
  authenticate: () => ({ id: "guest" }), // put in your own sessions
  mayUse: (_, threadId) => threadId.startsWith("chat-"),
});

const answer = (request: Request) => (request.method === "GET" ? GET(request) : POST(request));
const listener = getRequestListener(answer, { overrideGlobalObjects: false });
const server = createServer((request, response) => void listener(request, response));
server.listen(0, "127.0.0.1");
await once(server, "listening");
host.start(); // continues in the background what was under way when the last process ended

const { port } = server.address() as AddressInfo; // it listens at a port
const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "What is a queue?" }] }];
const body = JSON.stringify({ id: "chat-1", messages });
const headers = { "content-type": "application/json" };
await (await fetch(`http://127.0.0.1:${port}/api/chat`, { method: "POST", headers, body })).text();
console.log(await (await fetch(`http://127.0.0.1:${port}/api/chat/chat-1/messages`)).text());

server.close();
await host.close();
await store.close();
await openai.close();
