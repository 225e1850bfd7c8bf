// Serves the page among the routes of a server that authenticates its users: docs/studio.md shows it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, openaiChat, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { studioRoutes } from "@colloquy/server/studio";

const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
const path = join(folder, "threads.db");
process.env["OPENAI_API_KEY"] = "none";
const whoIs = (cookie: string | null) => (cookie === "session=ada" ? { id: "ada" } : null);

const store = sqliteStore({ path }); // "threads.db"
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store });
const routes = await studioRoutes({
  store,
  clock: systemClock,
  configurations: [{ name: "as it runs", host }],
  about: "threads.db",
});
const server = threadServer(host, { authenticate: (request) => whoIs(request.headers.get("cookie")) }, routes);

const asking = (headers: Record<string, string>) => server.fetch(new Request("http://localhost/studio", { headers }));
assert.equal((await asking({})).status, 401);
const page = await asking({ cookie: "session=ada" });
console.log(/<title>(.*)<\/title>/.exec(await page.text())?.[1]);

await server.close();
await host.close();
await store.close();
delete process.env["OPENAI_API_KEY"];
rmSync(folder, { recursive: true });
