// Makes spans of a journal and of a host: docs/telemetry.md shows it.
import type { Entry } from "@colloquy/machine";
import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { spansOf } from "@colloquy/host/telemetry";
import { telemetryObserver } from "@colloquy/host/telemetry/live";
import { otlpRequest } from "@colloquy/host/telemetry/otlp";
import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";

const clock = runningClock(); // delays take no time
const forecast = tool({
  name: "forecast",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});
const llm = scriptedModel([
  fails({ kind: "overloaded" }),
  toolCalls([{ name: "forecast", arguments: { city: "Oslo" } }], { usage: { inputTokens: 40, outputTokens: 9 } }),
  reply("It rains.", { usage: { inputTokens: 61, outputTokens: 4 } }),
]);

const host = createHost({
  llm,
  tools: [forecast],
  thread: { model: { model: "gpt-4o-mini" } },
  observers: [telemetryObserver({ agent: "meteorologist" })],
  store: memoryStore({ clock }),
  clock,
  ids: sequentialIds(),
});
await host.ask("Does it rain in Oslo?", { threadId: "t" });
const journal: readonly Entry[] = await host.thread("t").exportJournal();
await host.close();

const spans = spansOf(journal, { agent: "meteorologist" });
if (Either.isLeft(spans)) throw new Error(spans.left.reason);
for (const { name, attributes } of spans.right)
  console.log(name, "read", attributes["gen_ai.usage.input_tokens"] ?? 0, "tokens");

const body = otlpRequest(spans.right, { format: "protobuf", resource: { "service.name": "weather" } });
console.log(`${body.length > 500 ? "a body" : "nothing"} for http://localhost:4318/v1/traces`);
