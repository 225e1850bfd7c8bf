// The host of the app. It opens its store, reads its key and calls its model only at the first use.
import { createHost, openaiChat, sqliteStore, tool } from "@colloquy/runtime-node";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});

const makeHost = () =>
  createHost({
    llm: openaiChat({ model: "gpt-4o-mini" }), // reads OPENAI_API_KEY and OPENAI_BASE_URL
    store: sqliteStore({ path: process.env["THREADS"] ?? "threads.db" }),
    system: "You know the weather.",
    tools: [weather],
  });

// Next loads this file once for `instrumentation.ts`, once for the route, and again whenever `next dev` sees a change.
// The process keeps one host, so that a turn under way continues. After a change to this file, restart `next dev`.
const kept: { colloquy?: ReturnType<typeof makeHost> } = globalThis as object;
export const host = (kept.colloquy ??= makeHost());
