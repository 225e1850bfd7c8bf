import { createHost, memoryStore, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});
const llm = scriptedModel([toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]), reply("Take an umbrella.")]);
const host = createHost({ llm, store: memoryStore(), tools: [weather] });

const { text } = await host.ask("Shall I walk through Oslo?");
console.log(text);
await host.close();
