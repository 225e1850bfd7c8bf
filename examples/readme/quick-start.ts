import { createHost, openaiChat, sqliteStore, tool } from "@colloquy/runtime-node";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}`,
});
const llm = openaiChat({ model: "gpt-4o-mini" }); // reads OPENAI_API_KEY and OPENAI_BASE_URL
const store = sqliteStore({ path: "threads.db" });
const host = createHost({ llm, store, system: "You know the weather.", tools: [weather] });

console.log((await host.ask("Is it raining in Oslo?")).text); // on the thread "default"
await host.close();
await store.close();
