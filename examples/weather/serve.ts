// Serves the weather agent over HTTP: `pnpm serve --port 8080 --store weather.db`. Clients of OpenAI's Responses API
// ask it as the model `weather`, with any key; it needs none itself.
import { once } from "node:events";
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { createHost, sqliteStore, systemClock } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { endingOf } from "@colloquy/cli/printing";
import { getRequestListener } from "@hono/node-server";
import { weatherOptions, weatherSystem } from "./agent.ts";
import { paced } from "./paced.ts";
import { weatherModel } from "./rules.ts";
import { weatherTools } from "./tools.ts";

const help = `The weather agent over HTTP, as the model "weather". All of its weather is made up.

  --port N        the port; 0 for one that is free (default: 8080)
  --store FILE    where the threads are kept (default: weather.db)
  --pace MS       between two words of the answer (default: 0)
`;

const main = async (): Promise<void> => {
  const { values } = parseArgs({ options });
  if (values.help) {
    console.log(help);
    return;
  }
  const port = wholeNumber("port", values.port, 65_535);
  const paceMs = wholeNumber("pace", values.pace, 60_000);
  const ending = endingOf(process);
  const store = sqliteStore({ path: values.store });
  const host = createHost({
    llm: paced(weatherModel(systemClock), paceMs),
    store,
    machine: weatherOptions,
    tools: weatherTools(systemClock),
    system: weatherSystem,
  });
  const server = threadServer(host, { responses: { models: ["weather"] } });
  const answer = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
  const sockets = createServer((request, response) => void answer(request, response));
  try {
    // Opens the file, so that a wrong path ends the program at once.
    await store.list({ limit: 1 });
    sockets.listen(port, "127.0.0.1");
    await once(sockets, "listening");
    const address = sockets.address();
    console.log(`the weather agent listens at http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`);
    host.start();
    if (!ending.aborted) await once(ending, "abort");
  } finally {
    await server.close();
    sockets.close();
    sockets.closeAllConnections();
    await host.close();
    await store.close();
  }
};

const options = {
  help: { type: "boolean", default: false },
  port: { type: "string", default: "8080" },
  store: { type: "string", default: "weather.db" },
  pace: { type: "string", default: "0" },
} as const;

const wholeNumber = (name: string, text: string, max: number): number => {
  if (/^\d+$/.test(text) && Number(text) <= max) return Number(text);
  throw new Error(`--${name} is "${text}"; it must be a whole number from 0 to ${max}`);
};

try {
  await main();
} catch (thrown) {
  if (!(thrown instanceof Error)) throw thrown;
  const isTaken = "code" in thrown && thrown.code === "EADDRINUSE";
  console.error(`${thrown.message}${isTaken ? "; give another as --port, or 0 for one that is free" : ""}`);
  process.exitCode = 2;
}
