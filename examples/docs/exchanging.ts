// Converts conversations in other formats to threads and back: docs/interchange.md shows it.
import { messagesOf } from "@colloquy/machine";
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { fromChatMessages, fromResponseItems, toChatMessages, toUiMessages } from "@colloquy/interchange";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";

const clock = runningClock();
const host = createHost({
  store: memoryStore({ clock }),
  llm: scriptedModel([reply("Take one.")]),
  clock,
  ids: sequentialIds(),
});

const stored = [
  { role: "developer", content: "Talk about the weather only." },
  { role: "user", content: "Will it rain in Oslo?" },
  { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAB…" },
  { type: "function_call", call_id: "call_1", name: "forecast", arguments: '{"city":"Oslo"}' },
  { type: "function_call_output", call_id: "call_1", output: "rain" },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "It will.", annotations: [] }] },
];

const imported = fromResponseItems(stored);
if ("left" in imported) throw new Error(imported.left.reason);
const thread = await host.importMessages(imported.right, { threadId: "weather" });
const { text } = await thread.ask("Shall I take an umbrella?");
console.log(text);

const state = await thread.state();
if (state === null) throw new Error("there is no such thread");
const { system } = state.context.conversation;
const messages = system === null ? messagesOf(state) : [system, ...messagesOf(state)];
for (const { role, parts } of toUiMessages(messages).value) console.log(role, parts.map(({ type }) => type).join(" "));

const { losses } = toChatMessages(messages);
for (const { messageId, what, why } of losses) console.log(`${messageId}: ${what}: ${why}`);

const stopped = [
  { role: "user", content: "And in Bergen?" },
  {
    role: "assistant",
    tool_calls: [{ id: "call_1", type: "function", function: { name: "forecast", arguments: "{}" } }],
  },
  { role: "user", content: "Never mind." },
];
const refused = fromChatMessages(stopped);
if ("left" in refused) console.log(refused.left.reason);

const repaired = fromChatMessages(stopped, { repair: true });
if ("right" in repaired)
  for (const { index, what, why } of repaired.right.losses) console.log(`${index}: ${what}: ${why}`);
await host.close();
