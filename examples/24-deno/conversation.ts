// A thread in a file, in Deno or Bun, which both have `node:sqlite`. The next process continues it. In this repository:
// deno run --node-modules-dir=manual --allow-env --allow-read --allow-write=. \
//   examples/24-deno/conversation.ts threads.db
// bun run examples/24-deno/conversation.ts threads.db
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { scriptedModel, reply, toolCalls } from "@colloquy/runtime-test/models";
import { tool } from "@colloquy/host";
import { argv } from "node:process";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});
const store = sqliteStore({ path: argv[2] ?? "threads.db" });
const host = createHost({
  llm: scriptedModel([toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), reply("It rains in Oslo.")]),
  tools: [weather],
  store,
});
const { turn, text } = await host.ask("Is it raining in Oslo?", { threadId: "ada" });
console.log(`turn ${turn}: ${text}`);
await host.close();
await store.close();
