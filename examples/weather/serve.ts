// The weather agent over HTTP: `pnpm serve --port 8080 --store weather.db`. Clients of OpenAI's Responses API ask it as
// the model `weather`, with any key; it needs none itself.
import { once } from "node:events";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { createHost, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { endingOf } from "@colloquy/terminal/printing";
import { getRequestListener } from "@hono/node-server";
import { weatherOptions, weatherSystem } from "./agent.ts";
import { paced } from "./paced.ts";
import { weatherModel } from "./rules.ts";
import { weatherTools } from "./tools.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "8080" },
    store: { type: "string", default: "weather.db" },
    pace: { type: "string", default: "0" },
  },
});
const ending = endingOf(process);
const store = sqliteStore({ path: values.store });
const host = createHost({
  llm: paced(weatherModel(systemClock), Number(values.pace)),
  store,
  machine: weatherOptions,
  tools: weatherTools(systemClock),
  system: weatherSystem,
  // After a crash the next run must not wait long for its threads.
  leaseTtlMs: 5_000,
});
const server = threadServer(host, { responses: { models: ["weather"] } });
const answer = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
const sockets = createServer((request, response) => void answer(request, response));
sockets.listen(Number(values.port), "127.0.0.1");
await once(sockets, "listening");
const address = sockets.address();
console.log(`the weather agent listens at http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
await host.resumeAll();
if (!ending.aborted) await once(ending, "abort");
await server.close();
sockets.close();
sockets.closeAllConnections();
await host.close();
await store.close();
