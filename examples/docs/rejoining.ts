// A reader that stops can continue after the last part it saw, here or in another process.
import { type AskPart, createHost, memoryStore } from "@colloquy/runtime-node";

const store = memoryStore();
const pieces = ["A queue ", "is a line ", "that is served ", "from the front."];

const options = {
  store,
  // Shown parts go to the store's log every 20 ms, and followers read them there as often.
  partsMs: 20,
  pollMs: 20,
  llm: async (_: unknown, { onDelta }: { onDelta: (delta: { type: "text"; text: string }) => void }) => {
    for (const text of pieces) {
      onDelta({ type: "text", text });
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    return { type: "completed", reply: { content: pieces.join("") }, finishReason: "stop" } as const;
  },
};
const host = createHost(options);

const asked = host.thread("queues").ask("What is a queue?", { askId: "a" });
let seen = "";
for await (const part of asked) {
  seen += textIn(part);
  if (seen !== "") break;
}
const from = asked.cursor;

// Another process has the id of the ask and the cursor, such as the `Last-Event-ID` of an event stream.
const elsewhere = createHost(options);
const rejoined = elsewhere.thread("queues").rejoin("a", { from });
for await (const part of rejoined) {
  // The shown parts of this step and later ones are void.
  if (part.type === "replay.started" || part.type === "thread.lost") seen = "";
  seen += textIn(part);
}
console.log(seen);

await elsewhere.close();
await host.close();

function textIn(part: AskPart): string {
  return part.type === "text.delta" ? part.text : "";
}
