// Tools with a zod schema and with a plain JSON Schema, and their arguments. docs/tools.md shows it.
import { createHost, sqliteStore, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

declare module "@colloquy/host" {
  interface ToolContext {
    readonly user?: string;
    readonly region?: string;
  }
}

const forecast = tool({
  name: "forecast",
  description: "The weather of the next days in a city.",
  input: z.object({ city: z.string(), days: z.int().min(1).max(7) }),
  recovery: "rerun", // it only reads, so it may run again after a crash
  timeoutMs: 5_000,
  run: ({ city, days }, { toolContext, signal }) => {
    signal.throwIfAborted();
    return { city, days, sky: "clear", for: toolContext.user, in: toolContext.region };
  },
});

const alarm = tool({
  name: "alarm",
  description: "Sets an alarm.",
  input: {
    jsonSchema: { type: "object", properties: { time: { type: "string" } }, required: ["time"] },
  },
  recovery: "once", // it must not run twice
  concurrency: 1,
  run: ({ time }, { idempotencyKey }) => `Set for ${String(time)} under ${idempotencyKey}.`,
});

const tools = [forecast, alarm];
const host = createHost({
  tools,
  toolContext: { user: "nobody", region: "eu" },
  store: sqliteStore({ path: ":memory:" }),
  llm: scriptedModel([
    toolCalls([
      { name: "forecast", arguments: { city: "Oslo", days: 99 } },
      { name: "alarm", arguments: { time: "7:00" } },
    ]),
    toolCalls([{ name: "forecast", arguments: { city: "Oslo", days: 2 } }]),
    reply("Clear. I will wake you."),
  ]),
});

const asked = host.ask("Wake me at seven if it is clear in Oslo.", { threadId: "t", toolContext: { user: "ada" } });
for await (const part of asked) {
  if (part.type === "toolResult") console.log(part.name, part.outcome, part.content);
}
await host.close();
