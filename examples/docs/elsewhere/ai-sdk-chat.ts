// The backend of examples/28-node as the AI SDK's docs suggest: a file per chat, messages are saved before the answer,
// an answer completes even if its page has gone, and the next process answers what a dead one left open.
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";

import { openai } from "@ai-sdk/openai";
import { getRequestListener } from "@hono/node-server";
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  generateId,
  isStepCount,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
  validateUIMessages,
} from "ai";
import { z } from "zod";

const { CHATS: folder = ".chats", ORDERS: orders = "orders.txt" } = process.env;

const order = tool({
  description: "Orders a thing for the customer.",
  inputSchema: z.object({ thing: z.string() }),
  execute: async ({ thing }) => {
    await appendFile(orders, `${thing}\n`);
    return `Ordered ${thing}.`;
  },
});
const tools = { order };

const chatFile = (id: string): string => {
  if (!/^chat-[\w-]+$/.test(id)) throw new Error("Invalid chat ID");
  return join(folder, `${id}.json`);
};

const loadChat = async (id: string): Promise<UIMessage[]> =>
  existsSync(chatFile(id)) ? (JSON.parse(await readFile(chatFile(id), "utf8")) as UIMessage[]) : [];

const saveChat = (id: string, messages: UIMessage[]): Promise<void> =>
  writeFile(chatFile(id), JSON.stringify(messages));

const respond = async (id: string, messages: UIMessage[]): Promise<Response> => {
  const result = streamText({
    model: openai("gpt-4o-mini"), // reads OPENAI_API_KEY and OPENAI_BASE_URL
    messages: await convertToModelMessages(messages),
    tools,
    stopWhen: isStepCount(20),
  });
  void result.consumeStream(); // completes even if the page has gone
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({
      stream: result.stream,
      originalMessages: messages,
      generateMessageId: generateId,
      onEnd: ({ messages: all }) => saveChat(id, all),
    }),
  });
};

const POST = async (request: Request): Promise<Response> => {
  const { id, messages: posted } = (await request.json()) as { id: string; messages: UIMessage[] };
  const before = await loadChat(id);
  const messages = await validateUIMessages({ messages: [...before, ...posted.slice(-1)], tools });
  await saveChat(id, messages);
  return respond(id, messages);
};

const GET = async (request: Request): Promise<Response> => {
  const [, id = "", route] = new URL(request.url).pathname.split("/").slice(2);
  return route === "messages" ? Response.json(await loadChat(id)) : new Response(null, { status: 204 });
};

/** Answers the messages that a dead process left unanswered. */
const recover = async (): Promise<void> => {
  for (const file of readdirSync(folder)) {
    const id = basename(file, ".json");
    const messages = await loadChat(id);
    if (messages.at(-1)?.role === "user") await (await respond(id, messages)).text();
  }
};

mkdirSync(folder, { recursive: true });
const answer = (request: Request) => (request.method === "GET" ? GET(request) : POST(request));
const listener = getRequestListener(answer, { overrideGlobalObjects: false });
const server = createServer((request, response) => void listener(request, response));
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1", () => {
  void recover();
  const { port } = server.address() as AddressInfo; // it listens at a port
  console.log(`http://127.0.0.1:${port}`);
});
