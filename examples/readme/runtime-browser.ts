import { createHost, indexedDbStore, memoryStore } from "@colloquy/runtime-browser";

const host = createHost({
  // A key has no place in a page: here you call a server of yours, which calls the model.
  llm: ({ messages }) => {
    const reply = { content: `I have read ${messages.length} messages.` };
    return Promise.resolve({ type: "completed", reply, finishReason: "stop" });
  },
  // A page that is rendered on a server has no database there.
  store: "indexedDB" in globalThis ? indexedDbStore({ name: "chat" }) : memoryStore(),
});
console.log((await host.ask("Hello?", { threadId: "ada" })).text);
await host.close();
