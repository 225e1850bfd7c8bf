import { fromChatMessages, toChatMessages } from "@colloquy/interchange";
import { messagesOf } from "@colloquy/machine";
import { createHost, memoryStore, openaiChat } from "@colloquy/runtime-node";

const read = fromChatMessages([
  { role: "user", content: "Will it rain in Oslo?" },
  { role: "assistant", content: "It will." },
]);
if ("left" in read) throw new Error(read.left.reason);

const host = createHost({ llm: openaiChat({ model: "gpt-4o-mini" }), store: memoryStore() });
const thread = await host.importMessages(read.right, { threadId: "ada" });
await thread.ask("Shall I take an umbrella?");

const state = await thread.state();
if (state !== null) console.log(toChatMessages(messagesOf(state)).value.length);
await host.close();
