// The page among the routes of a server that asks for a token: docs/studio.md shows it.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, openaiChat, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { studioRoutes } from "@colloquy/studio";

const folder = mkdtempSync(join(tmpdir(), "colloquy-"));
const path = join(folder, "threads.db");
process.env["OPENAI_API_KEY"] = "none";
const token = "for developers";

const store = sqliteStore({ path }); // "threads.db"
const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store });
const routes = await studioRoutes({
  store,
  clock: systemClock,
  configurations: [{ name: "as it runs", host }],
  about: "threads.db",
});
const server = threadServer(host, { authenticate: { token } }, routes);

const asking = (headers: Record<string, string>) => server.fetch(new Request("http://localhost/studio", { headers }));
assert.equal((await asking({})).status, 401);
const page = await asking({ authorization: `Bearer ${token}` });
console.log(/<title>(.*)<\/title>/.exec(await page.text())?.[1]);

await server.close();
await host.close();
await store.close();
delete process.env["OPENAI_API_KEY"];
rmSync(folder, { recursive: true });
