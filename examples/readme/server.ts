import { createHost, memoryStore, openaiChat } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";

const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store: memoryStore() });
const users = new Map([["Bearer key-of-ada", { id: "ada" }]]);
const server = threadServer(host, {
  authenticate: ({ headers }) => users.get(headers.get("authorization") ?? ""),
});

// Deno.serve, Bun.serve, Hono and workers take `server.fetch` directly; Node takes it through `@hono/node-server`.
const headers = { authorization: "Bearer key-of-ada", "content-type": "application/json" };
const body = JSON.stringify({ input: "Hello" });
const response = await server.fetch(new Request("http://localhost/v1/responses", { method: "POST", headers, body }));
console.log(response.status, (await response.text()).slice(0, 60));
await server.close();
await host.close();
