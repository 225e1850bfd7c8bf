// A chat backend on Node's own server, for a page with `useChat`. Its threads are in a file. With `DATABASE_URL` they
// are in PostgreSQL, and any number of processes can serve them.
import { appendFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";
import { createHost, openaiChat, sqliteStore, tool } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { uiChat } from "@colloquy/server";
import { z } from "zod";

const { DATABASE_URL: connectionString, THREADS: path = "threads.db", ORDERS: orders = "orders.txt" } = process.env;

const order = tool({
  name: "order",
  description: "Orders a thing for the customer.",
  input: z.object({ thing: z.string() }),
  recovery: "once", // does not run again after a crash
  run: async ({ thing }) => {
    await appendFile(orders, `${thing}\n`);
    return `Ordered ${thing}.`;
  },
});

const store = connectionString === undefined ? sqliteStore({ path }) : postgresStore({ connectionString });
const llm = openaiChat({ model: "gpt-4o-mini" }); // reads OPENAI_API_KEY and OPENAI_BASE_URL
const host = createHost({ llm, store, tools: [order] });
const { GET, POST } = uiChat(host, {
  path: "/api/chat",
  authenticate: () => ({ id: "guest" }), // put your own sessions here
  mayUse: (_, threadId) => threadId.startsWith("chat-"),
});

const answer = (request: Request) => (request.method === "GET" ? GET(request) : POST(request));
const listener = getRequestListener(answer, { overrideGlobalObjects: false });
const server = createServer((request, response) => void listener(request, response));
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  host.start(); // continues in the background the turns that the last process left open
  const { port } = server.address() as AddressInfo; // it listens at a port
  console.log(`http://127.0.0.1:${port}`);
});

// Turns that are under way stay open in the store, and the next process continues them.
const stop = async (): Promise<void> => {
  server.close().closeAllConnections();
  await host.close();
  await store.close();
};
process.once("SIGTERM", () => void stop());
