import { createHost, indexedDbStore, memoryStore } from "@colloquy/runtime-browser";

const host = createHost({
  // Never put a key into a page: here you call your server, which calls the model.
  llm: ({ messages }) => {
    const reply = { content: `I have read ${messages.length} messages.` };
    return Promise.resolve({ type: "completed", reply, finishReason: "stop" });
  },
  // A page rendered on a server has no database there.
  store: "indexedDB" in globalThis ? indexedDbStore({ name: "chat" }) : memoryStore(),
});
console.log((await host.ask("Hello?", { threadId: "ada" })).text);
await host.close();
