// A chat backend in Hono, for a page with `useChat`. A scripted model takes the place of OpenAI, and this program that
// of the page.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createHost, openaiChat, sqliteStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { uiChat } from "@colloquy/server";

const openai = await loopbackServer({ model: scriptedModel([reply("A line of people.")]) });

const store = sqliteStore({ path: process.env["THREADS"] ?? ":memory:" });
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini", apiKey: "none", baseURL: openai.url }), store });
const { GET, POST } = uiChat(host, {
  path: "/api/chat",
  authenticate: () => ({ id: "guest" }), // put your own sessions here
  mayUse: (_, threadId) => threadId.startsWith("chat-"),
});

const app = new Hono();
app.get("/api/chat/*", ({ req }) => GET(req.raw));
app.post("/api/chat/*", ({ req }) => POST(req.raw));

const listening = Promise.withResolvers<string>();
const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  host.start(); // continues in the background the turns that the last process left open
  listening.resolve(`http://127.0.0.1:${port}`);
});

const url = await listening.promise;
const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "What is a queue?" }] }];
const body = JSON.stringify({ id: "chat-1", messages });
const headers = { "content-type": "application/json" };
await (await fetch(`${url}/api/chat`, { method: "POST", headers, body })).text();
console.log(await (await fetch(`${url}/api/chat/chat-1/messages`)).text());

server.close();
await host.close();
await store.close();
await openai.close();
