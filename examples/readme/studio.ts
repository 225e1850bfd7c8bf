import { createHost, openaiChat, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { studioRoutes } from "@colloquy/server/studio";

const store = sqliteStore({ path: "threads.db" });
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store });
const routes = await studioRoutes({
  store,
  clock: systemClock,
  configurations: [{ name: "as it runs", host }],
  about: "threads.db",
});
const server = threadServer(host, { authenticate: () => ({ id: "me" }) }, routes); // pass `server.fetch` to your server

const page = await server.fetch(new Request("http://localhost/studio"));
console.log(page.status, page.headers.get("content-type"));
await server.close();
await host.close();
await store.close();
