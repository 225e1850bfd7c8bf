// Streams a reply from a real client over HTTP, then cancels another one, whose shown text is kept.
import { textOf } from "@colloquy/machine";
import { checkPrompt } from "@colloquy/machine/policies";
import { createHost, openaiChat, memoryStore, TurnCancelledError } from "@colloquy/runtime-node";
import { never, reply, scriptedModel } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";

// Stands in for any server that speaks OpenAI's protocol. Its second answer would never end.
const model = scriptedModel([
  reply("Once upon a time there was a queue."),
  never({ pieces: ["It had ", "a first ", "element, "] }),
  reply("It was empty."),
]);
const server = await loopbackServer({ model });

const host = createHost({
  store: memoryStore(),
  llm: openaiChat({ baseURL: server.url, apiKey: "none", model: "any" }),
});

// A handle is both an async iterable of parts and a promise of the result.
const asked = host.ask("Tell me a story.");
for await (const part of asked) if (part.type === "text.delta") process.stdout.write(part.text);
const { turn, usage } = await asked;
console.log(`\n(turn ${turn}, ${usage.calls} call)`);

const stop = new AbortController();
const stopped = host.ask("And then?", { signal: stop.signal });
for await (const part of stopped) {
  if (part.type !== "text.delta") continue;
  process.stdout.write(part.text);
  if (part.text.includes("element")) stop.abort(new Error("enough"));
}
try {
  await stopped;
} catch (error) {
  if (!(error instanceof TurnCancelledError)) throw error;
  console.log(`\n(cancelled: ${error.reason}; kept: "${error.summary.text}")`);
}

// The conversation continues: the next prompt is valid and has the shown text.
console.log((await host.ask("How does it end?")).text);
const sent = model.calls.at(-1)?.messages ?? [];
for (const message of sent) console.log(`  it was sent: ${message.role}: ${textOf(message)}`);
console.log(checkPrompt(sent) === null ? "(a well-formed prompt)" : "(a broken prompt)");

await host.close();
await server.close();
