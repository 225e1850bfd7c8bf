// Serves the threads of a store, and prints its URL, until it is killed.
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

import type { LlmHandler } from "@colloquy/host";
import { textOf } from "@colloquy/machine";
import { createHost, tool } from "@colloquy/runtime-node";
import { threadServer } from "@colloquy/server";
import { getRequestListener } from "@hono/node-server";

import { openStore, type StorePlace } from "../../kit/places.ts";
import { answerTo, callerTool, hostTool } from "./questions.ts";

// The parent process writes these options.
const place = JSON.parse(process.argv[2] ?? "") as StorePlace;

const llm: LlmHandler = async ({ messages }, { onDelta }) => {
  const asked = messages.findLastIndex(({ role, synthesised }) => role === "user" && synthesised !== true);
  const [question, ...since] = messages.slice(asked);
  const said = question === undefined ? "" : textOf(question);
  const name = since.length > 0 ? null : said.endsWith("call") ? callerTool : said.endsWith("run") ? hostTool : null;
  const content = name === null ? answerTo(said) : "Let me see. ";
  for (const word of content.split(/(?<= )/u)) {
    onDelta({ type: "text", text: word });
    await pause(5);
  }
  const toolCalls = name === null ? {} : { toolCalls: [{ id: "call", name, arguments: "{}" }] };
  return { type: "completed", reply: { content, ...toolCalls }, finishReason: "stop" };
};

const run = tool({
  name: hostTool,
  description: "Runs on the server.",
  input: { jsonSchema: { type: "object" } },
  recovery: "rerun",
  run: () => pause(10, "done"),
});

const host = createHost({
  llm,
  store: openStore(place),
  tools: [run],
  recovery: { everyMs: 1_500 },
  idleMs: 2_000,
  pollMs: 20,
  // On a busy machine a store is sometimes slower than a lease allows.
  onObserverError: () => {},
});
const server = threadServer(host);
const listener = getRequestListener((request) => server.fetch(request), { overrideGlobalObjects: false });
const sockets = createServer((request, response) => void listener(request, response)).listen(0, "127.0.0.1", () => {
  host.start();
  const address = sockets.address();
  if (typeof address === "object") process.stdout.write(`http://127.0.0.1:${address?.port}\n`);
});
