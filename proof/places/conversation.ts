// Runs once per process, in Deno or Bun: `conversation.ts PLACE MODEL_URL [QUESTION]`. Asks a model over HTTP, with a
// tool, on a store; without a question it continues the turn of a process that died. Prints the messages.
import { argv } from "node:process";
import { setTimeout as pause } from "node:timers/promises";

import { type Resumed, ThreadHeldError, tool } from "@colloquy/host";
import { messagesOf, textOf } from "@colloquy/machine";
import { createHost, openaiChat } from "@colloquy/runtime-node";
import { z } from "zod";

import { openStore, type StorePlace } from "../kit/places.ts";

const [place, baseURL, question] = argv.slice(2);
const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  input: z.object({ city: z.string() }),
  run: ({ city }) => `Rain in ${city}.`,
});
// `conversation-elsewhere.ts` writes it.
const store = openStore(JSON.parse(place ?? "") as StorePlace);
const llm = openaiChat({ model: "any", apiKey: "none", ...(baseURL !== undefined && { baseURL }) });
const host = createHost({ llm, tools: [weather], store });
if (question === undefined) {
  const { turn } = await resumed();
  await turn;
} else await host.ask(question, { threadId: "ada" });
const state = await host.thread("ada").state();
for (const message of state === null ? [] : messagesOf(state)) console.log(`${message.role}: ${textOf(message)}`);
await host.close();
await store.close();

/** Continues the thread. On a server, the lease of a dead process lasts a few seconds longer. */
async function resumed(): Promise<Resumed> {
  for (;;) {
    try {
      return await host.thread("ada").resume();
    } catch (thrown) {
      if (!(thrown instanceof ThreadHeldError)) throw thrown;
      await pause(100);
    }
  }
}
