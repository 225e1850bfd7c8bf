// Hooks and observers: docs/observing.md shows it.
import { createHost, memoryStore } from "@colloquy/runtime-node";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel } from "@colloquy/runtime-test/models";

const clock = runningClock(); // delays take no time
const host = createHost({
  store: memoryStore({ clock }),
  llm: scriptedModel([fails({ kind: "overloaded" }), reply("Hello.")]),
  clock,
  ids: sequentialIds(),
  hooks: {
    beforeStep: ({ turn, step, messages }) => console.log(`turn ${turn}, step ${step}: ${messages.length} messages`),
    afterTurn: ({ turn }) => console.log(`turn ${turn.number} ${turn.outcome.status}, ${turn.usage.calls} calls`),
  },
  observers: [
    { entry: ({ seq, event }, threadId) => console.log(`${threadId}: ${seq} ${event.type}`) },
    { signal: (signal) => console.log(`signal ${signal.type}`) },
  ],
  onObserverError: (error, where) => console.error(where, error),
});

await host.ask("Hello?", { threadId: "t" });
await host.close();
