// A server that a test kills: `node server-process.ts STORE first|second`. The first one's model never ends its answer.
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { serve } from "@hono/node-server";
import { threadServer } from "../../src/index.ts";

const [path = "", which = "first"] = process.argv.slice(2);
const llm = scriptedModel(
  which === "first" ? [never({ pieces: ["It was a "] })] : [reply("It was a dark night."), reply("And then?")],
);
const host = createHost({ llm, store: sqliteStore({ path }) });
const server = threadServer(host);
serve({ fetch: (request) => server.fetch(request), hostname: "127.0.0.1", port: 0 }, ({ port }) =>
  process.stdout.write(`${port}\n`),
);
