// A chat backend that needs no key: its model answers every message by a rule.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { ruleModel } from "@colloquy/runtime-test/models";
import { uiChat } from "@colloquy/server";

const llm = ruleModel([{ name: "anything", when: () => true, answer: () => "Here a model would answer." }]);
const host = createHost({ llm, store: memoryStore() });

const { GET, POST } = uiChat(host, { path: "/api/chat", authenticate: () => ({ id: "guest" }) });

const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "Hello?" }] }];
const headers = { "content-type": "application/json" };
const body = JSON.stringify({ id: "chat-1", messages });
await (await POST(new Request("http://localhost/api/chat", { method: "POST", headers, body }))).text();
console.log(await (await GET(new Request("http://localhost/api/chat/chat-1/messages"))).text());
await host.close();
