// Continues a turn that was under way when a process ended: docs/recovery.md shows it.
import { createHost, type LlmHandler, memoryStore } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { reply, scriptedModel } from "@colloquy/runtime-test/models";

const clock = runningClock(); // delays take no time
const setting = { store: memoryStore({ clock }), clock, ids: sequentialIds() };

const silent: LlmHandler = () => new Promise(() => {});
const before = createHost({ ...setting, llm: silent, thread: { metadata: { app: "library" } } });
before.ask("What is a queue?", { threadId: "ada", askId: "queue" });
await before.thread("grace").append({ role: "user", content: "A note, and no question." });
await before.close();

const recovered = Promise.withResolvers<void>();
const host = createHost({
  ...setting,
  llm: scriptedModel([reply("A line that is served from the front.")]),
  // Other threads of this store belong to other programs.
  recovery: { continues: ({ app }) => app === "library", everyMs: 60_000 },
  observers: [
    { recovered: ({ continued, left }) => console.log(`${continued.join()} continues, ${left.length} are left`) },
    { recovered: () => recovered.resolve() },
  ],
});
host.start(); // a server calls it once it listens, without waiting

await recovered.promise; // so that this program does not end first
console.log((await host.thread("ada").rejoin("queue")).text);
await host.close();
