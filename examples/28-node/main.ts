// Starts the backend of server.ts and asks in place of a page. A scripted model takes the place of OpenAI.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

const openai = await loopbackServer({ model: scriptedModel([reply("A line of people.")]) });
const variables = { OPENAI_BASE_URL: openai.url, OPENAI_API_KEY: "none", THREADS: ":memory:" };
const backend = spawn(process.execPath, [join(import.meta.dirname, "server.ts")], {
  env: { ...process.env, ...variables },
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = (await once(backend.stdout.setEncoding("utf8"), "data")) as [string];
const url = line.trim();

const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "What is a queue?" }] }];
const body = JSON.stringify({ id: "chat-1", messages });
const headers = { "content-type": "application/json" };
await (await fetch(`${url}/api/chat`, { method: "POST", headers, body })).text();
console.log(await (await fetch(`${url}/api/chat/chat-1/messages`)).text());

backend.kill();
await once(backend, "exit");
await openai.close();
