import { createHost, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";

const clock = {
  now: () => Date.now(),
  wakeAt: (dueAt: number, callback: () => void) => {
    const timer = setTimeout(callback, dueAt - Date.now());
    return () => clearTimeout(timer);
  },
};
const host = createHost({
  machine: conversationMachine(),
  llm: ({ messages }) => {
    const reply = { content: `I have read ${messages.length} messages.` };
    return Promise.resolve({ type: "completed", reply, finishReason: "stop" });
  },
  store: memoryStore({ clock }),
  clock,
  ids: { draw: (kind) => `${kind}-${crypto.randomUUID()}` },
});
console.log((await host.ask("Hello?", { threadId: "ada" })).text);
await host.close();
