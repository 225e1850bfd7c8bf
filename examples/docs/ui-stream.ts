// A route of one's own that answers with the AI SDK's UI message stream, and the first paint of its page.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { uiMessagesOf, uiMessageStreamResponse } from "@colloquy/server";
import { z } from "zod";

const host = createHost({ llm: scriptedModel([reply("A line.")]), store: memoryStore() });

const body = z.object({ chat: z.string(), text: z.string() });

const POST = async (request: Request): Promise<Response> => {
  const { chat, text } = body.parse(await request.json());
  return uiMessageStreamResponse(host.ask(text, { threadId: chat }));
};

const GET = async (request: Request): Promise<Response> => {
  const thread = host.thread(new URL(request.url).searchParams.get("chat") ?? "");
  const messages = await thread.look((state) => uiMessagesOf(state, { last: 20 }));
  return Response.json(messages ?? []);
};

const asked = JSON.stringify({ chat: "ada-1", text: "What is a queue?" });
const streamed = await (await POST(new Request("http://localhost/", { method: "POST", body: asked }))).text();
for (const [, type] of streamed.matchAll(/"type":"([a-z-]+)"/g)) console.log(type);
const painted = await (await GET(new Request("http://localhost/?chat=ada-1"))).text();
console.log(painted.includes("A line."));
await host.close();
