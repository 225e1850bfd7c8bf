// Custom routes that answer with the AI SDK's UI message stream, and the first paint of their page.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel, streams } from "@colloquy/runtime-test/models";
import { uiMessagesOf, uiMessageStreamResponse } from "@colloquy/server";
import { z } from "zod";

const takesItsTime = streams(["A ", { text: "line.", delayMs: 100 }]);
const llm = scriptedModel([reply("A line."), takesItsTime, reply("LIFO."), takesItsTime, reply("LIFO.")]);
const host = createHost({ llm, store: memoryStore() });

const body = z.object({ chat: z.string(), text: z.string() });

const POST = async (request: Request): Promise<Response> => {
  const { chat, text } = body.parse(await request.json());
  // If the page stops or leaves, the turn continues, and the next message waits for its end.
  const ask = host.ask(text, { threadId: chat, overlap: "queue" });
  return uiMessageStreamResponse(ask);
};

const GET = async (request: Request): Promise<Response> => {
  const thread = host.thread(new URL(request.url).searchParams.get("chat") ?? "");
  const messages = await thread.look((state) => uiMessagesOf(state, { last: 20 }));
  return Response.json(messages ?? []);
};

const POST_OR_CANCEL: typeof POST = async (request) => {
  const { chat, text } = body.parse(await request.json());
  // If the page stops or leaves, the turn is cancelled, and the next message is answered at once.
  const ask = host.ask(text, { threadId: chat, overlap: "queue", signal: request.signal });
  return uiMessageStreamResponse(ask);
};

const asking = (chat: string, text: string, signal?: AbortSignal): Request =>
  new Request("http://localhost/", {
    method: "POST",
    body: JSON.stringify({ chat, text }),
    ...(signal === undefined ? {} : { signal }),
  });

const streamed = await (await POST(asking("ada-1", "What is a queue?"))).text();
for (const [, type] of streamed.matchAll(/"type":"([a-z-]+)"/g)) console.log(type);
const painted = await (await GET(new Request("http://localhost/?chat=ada-1"))).text();
console.log(painted.includes("A line."));

// A page stops in the middle of an answer and asks another question.
for (const [chat, route] of Object.entries({ "ada-2": POST, "ada-3": POST_OR_CANCEL })) {
  const page = new AbortController();
  const response = await route(asking(chat, "What is a queue?", page.signal));
  for await (const bytes of response.body ?? []) if (new TextDecoder().decode(bytes).includes('"A "')) break;
  page.abort();
  const next = await (await route(asking(chat, "And a stack?"))).text();
  const [first] = await host.thread(chat).asks();
  console.log(first?.status, next.includes("LIFO."));
}
await host.close();
