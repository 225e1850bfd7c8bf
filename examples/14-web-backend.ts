// A web backend: it streams answers to a browser as server-sent events, cancels turns whose client disconnects, asks a
// person to approve calls, and continues after a restart. `PORT=8080 THREADS=shop.db node examples/14-web-backend.ts`
// starts it, and `curl -N localhost:8080/ada/asks -d '{"text":"Hello"}'` asks. The routes are below.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { messagesOf, textOf } from "@colloquy/machine";
import { createHost, openaiChat, sqliteStore, tool } from "@colloquy/runtime-node";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays money back to a customer.",
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: "always",
  recovery: "once", // does not run again after a crash
  run: ({ order, amount }) => `Paid back ${amount} for order ${order}.`,
});

const { PORT, THREADS = ":memory:", OPENAI_API_KEY: apiKey = "none" } = process.env;
const store = sqliteStore({ path: THREADS });
const llm = openaiChat({ model: "gpt-4o-mini", apiKey }); // on the server at OPENAI_BASE_URL, or OpenAI's
const system = "You help the customers of a shop.";
const host = createHost({ llm, store, system, tools: [refund] });

type Route = (threadId: string, request: IncomingMessage, response: ServerResponse) => Promise<unknown>;

const routes: Readonly<Record<string, Route>> = {
  "POST asks": async (threadId, request, response) => {
    const { text } = z.object({ text: z.string() }).parse(await json(request));
    const ask = host.ask(text, { threadId });
    response.on("close", () => ask.abort("the client went away")); // does nothing when the turn has ended
    response.writeHead(200, { "content-type": "text/event-stream" });
    for await (const part of ask) response.write(`event: ${part.type}\ndata: ${JSON.stringify(part)}\n\n`);
  },
  "POST approvals": async (threadId, request) => {
    // The digest identifies the shown call: it approves no call with other arguments.
    const { id, digest, approved } = z
      .object({ id: z.string(), digest: z.string(), approved: z.boolean() })
      .parse(await json(request));
    await (approved ? host.thread(threadId).approve(id, { digest }) : host.thread(threadId).deny(id, { digest }));
  },
  "GET messages": async (threadId, _, response) => {
    const state = await host.thread(threadId).state();
    const messages = state === null ? [] : messagesOf(state);
    response.write(JSON.stringify(messages.map((message) => ({ role: message.role, text: textOf(message) }))));
  },
  "GET approvals": async (threadId, _, response) =>
    response.write(JSON.stringify(await host.thread(threadId).approvals())),
};

const server = createServer((request, response) => {
  const [, thread = "", what = ""] = (request.url ?? "").split("/");
  const route = routes[`${request.method} ${what}`];
  if (route === undefined) return void response.writeHead(404).end();
  const failed = ({ message }: Error): void => {
    if (!response.headersSent) response.writeHead(400);
    response.write(`event: error\ndata: ${JSON.stringify(message)}\n\n`);
  };
  void Promise.resolve(thread)
    .then((encoded) => route(decodeURIComponent(encoded), request, response))
    .catch(failed)
    .finally(() => response.end());
});

if (PORT === undefined) console.log("Give it a port: PORT=8080 node examples/14-web-backend.ts");
// Once it listens, turns that the last process left open continue in the background.
else server.listen(Number(PORT), () => host.start());
